import { afterAll, beforeAll, describe, it } from "vitest";
import { checkVector, storeVectors, vectors } from "../helpers/feedback-vectors.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  await storeVectors(test);
});
afterAll(() => test.close());

describe("POST /feedback/stats returns the expected response of every vector", () => {
  it.each(vectors.cases.map((vector) => [vector.name, vector] as const))("%s", (_name, vector) =>
    checkVector(test, vector),
  );
});
