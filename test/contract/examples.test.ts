import type { OpenAPIV3_1 } from "openapi-types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problemOfResponse } from "../helpers/described-responses.ts";
import { describedRoutes, responseAt } from "../helpers/openapi-document.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { authorization } from "../helpers/start-app.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
  // a dataset has at least one chat
  const messages = [{ role: "user", content: "Where is my parcel?" }];
  const times = { started_at: "2026-01-15T09:30:00Z", ended_at: "2026-01-15T09:30:06Z" };
  const output = { choices: [{ index: 0, message: { role: "assistant", content: "It arrives tomorrow." } }] };
  const call = {
    ...times,
    trace_id: "chat",
    op_name: "chat",
    attributes: {},
    inputs: { messages },
    summary: {},
  };
  await test.post("/v2/acme/demo/calls/complete", { batch: [{ ...call, id: "chat", output }] });
});
afterAll(() => test.close());

type Json = Record<string, unknown>;
/** The responses so far, by the id of their operation. */
const seen = new Map<string, Json>();
const from = (id: string, member: string): string => String(seen.get(id)?.[member]);

/** Replacements for the ids in a path. */
const pathIds: Readonly<Record<string, () => string>> = {
  entity: () => "acme",
  project: () => "demo",
  model_id: () => from("createModel", "id"),
  training_job_id: () => from("createTrainingJob", "id"),
};
/** Values that an example cannot contain, because they are generated. */
const bodyIds: Readonly<Record<string, () => Json>> = {
  readFile: () => ({ digest: from("createFile", "digest") }),
  queryTable: () => ({ digest: from("createTable", "digest") }),
  countTableRows: () => ({ digest: from("createTable", "digest") }),
  updateTable: () => ({ base_digest: from("createTable", "digest") }),
  updateBudget: () => ({ id: from("createBudget", "id") }),
  deleteBudget: () => ({ id: from("createBudget", "id") }),
  createTrainingJob: () => ({ model_id: from("createModel", "id") }),
  createSftTrainingJob: () => ({ model_id: from("createModel", "id") }),
};
const idOfPath: Readonly<Record<string, () => string>> = {
  revokeKey: () => from("createKey", "id"),
  readDeletion: () => from("deleteProject", "id"),
};
const FORM = "form";
const form = [
  `--${FORM}\r\nContent-Disposition: form-data; name="project_id"\r\n\r\nacme/demo\r\n`,
  `--${FORM}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nbytes\r\n--${FORM}--\r\n`,
].join("");

/** Things are made before they are read, and deleted last. */
function rank({ route }: { readonly route: string }): number {
  if (route === "DELETE /v1/preview/models/{model_id}" || route === "GET /deletions/{id}") return 3;
  if (route.startsWith("DELETE /projects")) return 2.5;
  if (/DELETE|delete|purge/.test(route)) return 2;
  return /create|start|PUT|POST \/v1\/preview\/models$|training-jobs$|POST \/api-keys/.test(route) ? 0 : 1;
}

function successOf({ responses }: OpenAPIV3_1.OperationObject): number {
  return Number(Object.keys(responses ?? {}).find((status) => status.startsWith("2")));
}

/** Needs a store that was opened for it: test/faults/backup-restore. */
const tried = describedRoutes.filter(({ route }) => route !== "POST /backups");

describe("the examples, sent to the service", () => {
  it.each(tried.toSorted((a, b) => rank(a) - rank(b)))("$route", async (described) => {
    const { operationId: id = "", requestBody } = described.operation;
    const takes = (requestBody as OpenAPIV3_1.RequestBodyObject | undefined)?.content["application/json"];
    const url = described.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
      (pathIds[name] ?? idOfPath[id]!)(),
    );
    const isForm = id === "createFile";
    const response = await fetch(`http://127.0.0.1:${test.port}${url}`, {
      method: described.method,
      headers: {
        authorization: authorization(undefined, url.startsWith("/v1/") ? "bearer" : "basic"),
        ...(isForm && { "content-type": `multipart/form-data; boundary=${FORM}` }),
        ...(takes !== undefined && { "content-type": "application/json" }),
      },
      ...(isForm && { body: form }),
      ...(takes !== undefined && {
        body: JSON.stringify({ ...(takes.example as Json), ...bodyIds[id]?.() }),
      }),
    });
    const text = await response.text();
    expect(response.status, text).toBe(successOf(described.operation));
    const type = (response.headers.get("content-type") ?? "").split(";", 1)[0]!;
    const { status } = response;
    expect(problemOfResponse(described, { status, type, payload: text })).toBeUndefined();
    if (type === "application/json") seen.set(id, JSON.parse(text) as Json);
    const truncated = responseAt(described, status)!.response.headers?.["x-truncated"] !== undefined;
    expect(response.headers.has("x-truncated")).toBe(truncated);
  });
});
