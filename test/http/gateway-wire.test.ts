import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

const AUTHORIZATION = `authorization: Bearer ${ROOT_KEY}`;

/** A request written out by hand, as SDKs and curl write theirs. */
function send(
  requestLine: string,
  headers: readonly string[],
  body?: string | Uint8Array,
): Promise<RawResponse> {
  const length = body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`];
  const lines = [`${requestLine} HTTP/1.1`, "host: gateway", AUTHORIZATION, ...headers, ...length];
  return sendRaw(test.port, head(...lines), ...(body === undefined ? [] : [body])).answer;
}

const json = (answer: RawResponse): unknown => JSON.parse(answer.body.toString()) as unknown;

async function createModel(): Promise<string> {
  const body = JSON.stringify({ project: "p", name: randomBytes(4).toString("hex"), base_model: "b" });
  const answer = await send("POST /v1/preview/models", ["content-type: application/json"], body);
  return (json(answer) as { id: string }).id;
}

describe("requests as the Python SDK and ART send them", () => {
  it("a DELETE with a media type and without a body reaches the upstream", async () => {
    const model = await createModel();
    const answer = await send(`DELETE /v1/preview/models/${model}`, ["content-type: application/json"]);
    expect([answer.status, json(answer)]).toMatchObject([200, { model_id: model, deleted_run: true }]);
    const seen = test.upstream.seen.at(-1)!;
    expect([seen.method, seen.bodyBytes, seen.headers["content-length"]]).toEqual(["DELETE", 0, undefined]);
  });

  it("a DELETE with a body arrives byte for byte", async () => {
    const model = await createModel();
    const body = '{ "steps" : [1,\n 2], "why":"\\u00e9" }';
    const answer = await send(
      `DELETE /v1/preview/models/${model}/checkpoints`,
      ["content-type: application/json"],
      body,
    );
    expect([answer.status, json(answer)]).toEqual([200, { deleted_count: 0, not_found_steps: [1, 2] }]);
    expect(test.upstream.seen.at(-1)!.body.toString()).toBe(body);
  });

  it("an empty POST with a media type reaches the upstream as an empty POST", async () => {
    for (const framing of ["content-length: 0", "transfer-encoding: chunked"]) {
      const chunked = framing.startsWith("transfer");
      const { answer } = sendRaw(
        test.port,
        head(
          "POST /v1/training/runs/r:close HTTP/1.1",
          "host: g",
          AUTHORIZATION,
          "content-type: application/json",
          framing,
        ),
        chunked ? "0\r\n\r\n" : "",
      );
      expect((await answer).status).toBe(200);
      const seen = test.upstream.seen.at(-1)!;
      expect([seen.url, seen.bodyBytes]).toEqual(["/v1/training/runs/r:close", 0]);
    }
  });

  it("a client that waits for 100 Continue receives it", async () => {
    const body = '{"model":"m","messages":[]}';
    const answer = await send("POST /v1/chat/completions", ["expect: 100-continue"], body);
    expect(answer.status).toBe(200);
  });
});

describe("bodies", () => {
  const odd =
    '{"model":"m","seed":9223372036854775807,"temperature":1.0,"__proto__":{"a":1},"constructor":{"prototype":{}},' +
    '"messages":[{"role":"user","content":"\\ud83c\\udf32 1e400"}],"return_token_ids":true,"vllm_xargs":{"k":1.50},' +
    '"min_p":0.10, "chat_template_kwargs":{"enable_thinking":false}}';

  it.each(["/v1/chat/completions", "/v1/chat/completions/", "/v1/anything/else"])(
    "of %s arrive unchanged: 64-bit seeds, 1.0, __proto__, unknown members",
    async (path) => {
      for (const project of [[], ["openai-project: acme/bodies"]]) {
        const answer = await send(`POST ${path}`, ["content-type: application/json", ...project], odd);
        expect(answer.status).toBe(200);
        expect(test.upstream.seen.at(-1)!.body.toString()).toBe(odd);
      }
    },
  );

  it("that are compressed arrive compressed, and are validated decompressed", async () => {
    const gzip = (text: string): Buffer => gzipSync(Buffer.from(text));
    const headers = ["content-type: application/json", "content-encoding: gzip"];
    for (const path of ["/v1/chat/completions", "/v1/preview/training-jobs"]) {
      const packed = gzip(odd);
      await send(`POST ${path}`, [...headers, "openai-project: acme/bodies"], packed);
      const seen = test.upstream.seen.at(-1)!;
      expect([seen.body.equals(packed), seen.headers["content-encoding"]]).toEqual([true, "gzip"]);
    }
    const model = gzip('{"project":"p","name":"gz","base_model":"b"}');
    await send("POST /v1/preview/models", headers, model);
    expect(test.upstream.seen.at(-1)!.body.equals(model)).toBe(true);
    const wrong = await send("POST /v1/preview/models", headers, gzip('{"project":1}'));
    expect(wrong.status).toBe(422);
    const bomb = await send("POST /v1/preview/models", headers, gzip(`"${"x".repeat(5_000_000)}"`));
    expect(bomb.status).toBe(413);
  });

  it("that are too large are rejected before they are read, with a readable response", async () => {
    const declared = sendRaw(
      test.port,
      head("POST /v1/preview/training-jobs HTTP/1.1", "host: g", AUTHORIZATION, `content-length: ${2 ** 40}`),
      "{",
    );
    const answer = await declared.answer;
    expect([answer.status, json(answer)]).toMatchObject([
      413,
      {
        error: { code: "payload_too_large", type: "invalid_request_error" },
        detail: expect.stringContaining("1073741824"),
      },
    ]);
    expect(test.upstream.seen).toHaveLength(0);
  });

  it("within the limit are not confused with those of unknown length", async () => {
    const chunk = `${(64 * 1024).toString(16)}\r\n${"x".repeat(64 * 1024)}\r\n`;
    const { answer } = sendRaw(
      test.port,
      head("POST /v1/preview/models HTTP/1.1", "host: g", AUTHORIZATION, "transfer-encoding: chunked"),
      chunk.repeat(40),
    );
    expect((await answer).status).toBe(413);
    expect(test.upstream.seen).toHaveLength(0);
  });
});

describe("the target of a request", () => {
  it.each([
    "/v1/../admin",
    "/v1/a/%2e%2e/%2e%2e/admin",
    "/v1/a%2f..%2f..%2fadmin",
    "/v1/..;/admin",
    "/v1/%2e%2e%3bx/admin",
    "/v1/%252e%252e/admin",
    "/v1/a\\..\\admin",
    "http://other.example/v1/../admin",
  ])("is rejected if it could leave the upstream's base path: %s", async (path) => {
    const answer = await send(`GET ${path}`, []);
    expect(answer.status).toBe(404);
    expect(test.upstream.seen).toHaveLength(0);
  });

  it("that cannot be decoded is rejected in both formats", async () => {
    const answer = await send("GET /v1/preview/models/%zz/checkpoints", []);
    expect([answer.status, json(answer)]).toMatchObject([
      400,
      { error: { code: "bad_request" }, detail: expect.any(String) },
    ]);
    expect(answer.headers["x-request-id"]).toBeTruthy();
  });

  it.each([
    ["http://other.example/v1/models/m1", "/v1/models/m1"],
    ["HTTPS://other.example:8443/v1/models?a=//b", "/v1/models?a=//b"],
    ["/v1//models///m1", "/v1/models/m1"],
    ["/%761/%6Dodels/a%20b%2Fc", "/v1/models/a%20b%2Fc"],
    ["/traces/v1/models", "/v1/models"],
  ])("is normalized: %s is sent as %s", async (target, upstream) => {
    const { answer } = sendRaw(
      test.port,
      Buffer.from(head(`GET ${target} HTTP/1.1`, "host: gateway", AUTHORIZATION), "latin1"),
    );
    expect((await answer).status).toBe(200);
    expect(test.upstream.seen.map(({ url }) => url)).toEqual([upstream]);
  });

  it.each([
    "/v1//preview/training-jobs",
    "/v1/%70review/training-jobs",
    "http://x/v1/preview//training-jobs",
  ])("has the rules of its route in every notation: %s", async (target) => {
    test.upstream.fail({ kind: "reset" });
    const answer = await send(`POST ${target}`, [], '{"model_id":"m","trajectory_groups":[]}');
    expect([answer.status, answer.headers["x-should-retry"]]).toEqual([502, "false"]);
    const typed = await send(`POST ${target.replace("training-jobs", "models")}`, [], "{}");
    expect(typed.status).toBe(422);
  });
});

describe("requests that no server may accept", () => {
  it.each([
    ["two Hosts", ["host: gateway", "host: other"]],
    ["two Hosts, the same", ["host: gateway", "Host: gateway"]],
    ["a Host that is a list", ["host: gateway, other"]],
    ["an empty-handed HTTP/1.1 request", []],
    ["a transfer coding besides chunked", ["host: g", "transfer-encoding: gzip, chunked"]],
    ["chunked twice", ["host: g", "transfer-encoding: chunked", "transfer-encoding: chunked"]],
    ["another transfer coding", ["host: g", "transfer-encoding: identity"]],
    ["a length beside chunked", ["host: g", "transfer-encoding: chunked", "content-length: 2"]],
  ])("%s returns 400, and nothing is sent upstream", async (_what, lines) => {
    for (const path of ["/v1/chat/completions", "/v1/anything"]) {
      const { answer } = sendRaw(
        test.port,
        head(`POST ${path} HTTP/1.1`, AUTHORIZATION, ...lines),
        "2\r\n{}\r\n0\r\n\r\n",
      );
      expect([await answer, test.upstream.seen]).toMatchObject([
        { status: 400, headers: { connection: "close" } },
        [],
      ]);
    }
  });
});

describe("other methods of a known path", () => {
  it.each([
    ["/v1/chat/completions", "POST, OPTIONS"],
    ["/v1/chat/completions/", "POST, OPTIONS"],
    ["/v1/preview/base-models", "GET, OPTIONS"],
    ["/v1/preview/models/m/checkpoints", "GET, DELETE, OPTIONS"],
  ])("of %s are rejected by the gateway", async (path, allow) => {
    const asked = async (method: string) => {
      const { status, headers } = await fetch(`http://127.0.0.1:${test.port}${path}`, {
        method,
        headers: { authorization: `Bearer ${ROOT_KEY}` },
      });
      return [status, headers.get("allow")];
    };
    expect(await asked("OPTIONS")).toEqual([204, allow]);
    expect(await asked("HEAD")).toEqual([405, allow]);
    expect(await asked("PUT")).toEqual([405, allow]);
    expect(test.upstream.seen).toHaveLength(0);
  });
});
