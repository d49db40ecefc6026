import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  bearer,
  startGateway,
  startSecondApp,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

const BODY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] });
const PATHS = ["/chat/completions", "/responses", "/preview/training-jobs", "/files"];

/** Posts through the gateway, without following a redirect. */
function post(path: string, { url = test.baseUrl, ...headers }: Record<string, string> = {}) {
  return fetch(url + path, {
    method: "POST",
    headers: {
      ...bearer,
      "openai-project": "acme/as-it-came",
      "content-type": "application/json",
      ...headers,
    },
    body: path.includes("training-jobs") ? '{"model_id":"m","trajectory_groups":[]}' : BODY,
    redirect: "manual",
  });
}

describe("a redirect of an upstream", () => {
  it.each(PATHS)("passes as it is, and is not followed: %s", async (path) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { url } = test.upstream;
      for (const location of [url + path, `${url}${path}/`, path, "https://elsewhere.example/v1/x?a=1"]) {
        test.upstream.forget();
        test.upstream.fail({ kind: "answer", status, body: "<h1>moved</h1>", headers: { location } });
        const response = await post(path);
        const got = [response.status, response.headers.get("location"), await response.text()];
        expect([...got, test.upstream.seen.length]).toEqual([status, location, "<h1>moved</h1>", 1]);
      }
    }
  });
});

describe("an upstream's URL", () => {
  let app: SecondApp;
  beforeAll(async () => {
    const url = new URL(test.upstream.url);
    url.search = "?api-version=2024-10-21&code=a%2Fb";
    url.username = "oper:ator";
    url.password = "pässword";
    app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: url.href, TRAINING_UPSTREAM_API_KEY: "" });
  });
  afterAll(() => app.close());

  it("keeps its query beside the client's, and sends its user and password as Basic credentials", async () => {
    for (const path of ["/chat/completions?a=1&api-version=7", "/files?b"])
      await post(path, { url: `${app.url}/v1` });
    const { seen } = test.upstream;
    expect(seen.map(({ url }) => url)).toEqual([
      "/v1/chat/completions?a=1&api-version=7&code=a%2Fb",
      "/v1/files?b&api-version=2024-10-21&code=a%2Fb",
    ]);
    const credentials = `Basic ${Buffer.from("oper:ator:pässword").toString("base64")}`;
    expect(seen.map(({ headers }) => headers["authorization"])).toEqual([credentials, credentials]);
  });
});
