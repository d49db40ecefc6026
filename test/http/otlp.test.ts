import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { addKey } from "../helpers/add-key.ts";
import { param, sql } from "../../src/query/sql.ts";
import { encodeRequest, partialSuccess, spanId, spanInit, TRACE_ID } from "../helpers/otlp-request.ts";
import { faultyEngine } from "../helpers/faulty-engine.ts";
import { authorization, ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let storeIsAway = false;
let project = "";
let projects = 0;
beforeAll(async () => {
  test = await startApp({
    wrapEngine: (engine) => faultyEngine(engine, () => (storeIsAway ? "refused" : "done")),
  });
});
afterAll(() => test.close());
beforeEach(() => (project = `acme/otlp${projects++}`));

const PROTOBUF = "application/x-protobuf";
const here = () => ({ "sumtree.project": project });

async function send(
  body: Buffer | string | undefined,
  headers: Record<string, string> = {},
  url = "/otel/v1/traces",
) {
  const response = await test.app.inject({
    method: "POST",
    url,
    headers: { authorization: authorization(), "content-type": PROTOBUF, ...headers },
    ...(body !== undefined && { payload: body }),
  });
  return {
    status: response.statusCode,
    type: response.headers["content-type"],
    retryAfter: response.headers["retry-after"],
    body: response.rawPayload,
    text: response.payload,
  };
}

async function storedIds(projectId = project): Promise<string[]> {
  const rows = await test.engine.rows<{ id: string }>(
    sql`SELECT id FROM calls FINAL WHERE project_id = ${param("String", projectId)} ORDER BY id`,
    { name: "test" },
  );
  return rows.map((row) => row.id);
}

function jsonSpan(number: number, more: object = {}) {
  return {
    traceId: TRACE_ID,
    spanId: spanId(number),
    name: "chat",
    startTimeUnixNano: "1767225600000000000",
    endTimeUnixNano: "1767225601000000000",
    attributes: [{ key: "gen_ai.usage.input_tokens", value: { intValue: "10" } }],
    ...more,
  };
}

function jsonRequest(...spans: unknown[]): string {
  const resource = { attributes: [{ key: "sumtree.project", value: { stringValue: project } }] };
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
}
const asJson = { "content-type": "application/json" };

describe.each(["/otel/v1/traces", "/agents/otel/v1/traces"])("POST %s", (url) => {
  it("returns an empty response, in the encoding of the request, if all spans are stored", async () => {
    const binary = await send(encodeRequest({ spans: [spanInit(0)], resource: here() }), {}, url);
    expect([binary.status, binary.type, binary.text]).toEqual([200, PROTOBUF, ""]);
    const json = await send(jsonRequest(jsonSpan(1)), asJson, url);
    expect([json.status, json.type, json.text]).toEqual([200, "application/json; charset=utf-8", "{}"]);
    expect(await storedIds()).toEqual([spanId(0), spanId(1)]);
  });
});

describe("POST /otel/v1/traces", () => {
  it("accepts an empty request", async () => {
    expect((await send(Buffer.alloc(0))).status).toBe(200);
    expect((await send("{}", asJson)).status).toBe(200);
  });

  it("reads whole numbers beyond 64 bits, as JavaScript exporters send them", async () => {
    const attributes = [{ key: "big", value: { intValue: 1e20 } }, ...jsonSpan(0).attributes];
    expect((await send(jsonRequest(jsonSpan(0, { attributes })), asJson)).text).toBe("{}");
    expect(await storedIds()).toEqual([spanId(0)]);
  });

  it("reads times sent as long numbers, and ids in upper case", async () => {
    const span = JSON.stringify(jsonSpan(10, { spanId: "00000000000000AB" }));
    const body = jsonRequest("SPAN").replace(
      '"SPAN"',
      span.replace('"1767225600000000000"', "1767225600123456789"),
    );
    expect((await send(body, asJson)).text).toBe("{}");
    const [row] = await test.engine.rows<Record<string, unknown>>(
      sql`SELECT started_at FROM calls FINAL WHERE project_id = ${param("String", project)} AND id = '00000000000000ab'`,
      { name: "test" },
    );
    expect(row).toEqual({ started_at: "2026-01-01 00:00:00.123456" });
  });
});

describe("a span that cannot be stored", () => {
  it("is rejected and reported; the others are stored (protobuf)", async () => {
    const bad = [
      spanInit(1, { spanId: new Uint8Array() }),
      spanInit(2, { traceId: new Uint8Array(16) }),
      spanInit(3, { startTimeUnixNano: 0n }),
    ];
    const answer = await send(encodeRequest({ spans: [spanInit(0), ...bad, spanInit(4)], resource: here() }));
    expect([answer.status, answer.type]).toEqual([200, PROTOBUF]);
    expect(partialSuccess(answer.body)).toEqual({
      rejected: 3,
      message: "2: a span has no trace id or no span id; 1: a span has no start time, or one out of range",
    });
    expect(await storedIds()).toEqual([spanId(0), spanId(4)]);
  });

  it("is rejected and reported; the others are stored (JSON)", async () => {
    const bad = [
      jsonSpan(1, { spanId: "xyz" }),
      jsonSpan(2, { startTimeUnixNano: "yesterday" }),
      jsonSpan(3, { attributes: [{ key: 5 }] }),
      "span",
      null,
    ];
    const answer = await send(jsonRequest(jsonSpan(0), ...bad, jsonSpan(4)), asJson);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      {
        partialSuccess: {
          rejectedSpans: "5",
          errorMessage: "1: a span has no trace id or no span id; 4: a span cannot be decoded",
        },
      },
    ]);
    expect(await storedIds()).toEqual([spanId(0), spanId(4)]);
  });

  it("can be nested hundreds of levels deep", async () => {
    const deep = `${'{"arrayValue":{"values":['.repeat(300)}${"]}}".repeat(300)}`;
    const span = JSON.stringify(jsonSpan(0, { attributes: [{ key: "deep", value: "VALUE" }] }));
    const body = jsonRequest("SPAN", jsonSpan(1)).replace('"SPAN"', span.replace('"VALUE"', deep));
    const answer = await send(body, asJson);
    expect([answer.status, JSON.parse(answer.text).partialSuccess?.rejectedSpans]).toEqual([200, "1"]);
    expect(await storedIds()).toEqual([spanId(1)]);
  });
});

describe("a request that cannot be decoded", () => {
  it.each([
    ["random bytes", Buffer.from("ffffffffffffff", "hex")],
    ["a cut request", encodeRequest({ spans: [spanInit(0)] }).subarray(0, 40)],
    ["text", Buffer.from("hello, this is not protobuf")],
  ])("is 400: %s", async (_, body) => {
    const answer = await send(body);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      { detail: "The body is not an encoded ExportTraceServiceRequest." },
    ]);
  });

  it("returns 400 for invalid JSON, 422 for other JSON, 415 for other media types", async () => {
    expect((await send("{", asJson)).status).toBe(400);
    const other = await send('{"resourceSpans":[{"scopeSpans":7}]}', asJson);
    expect([other.status, JSON.parse(other.text).detail[0].loc]).toEqual([
      422,
      ["body", "resourceSpans", 0, "scopeSpans"],
    ]);
    expect((await send("a=1", { "content-type": "application/x-www-form-urlencoded" })).status).toBe(415);
  });

  it("returns 413 for a zip bomb, in both encodings and of empty messages", async () => {
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024));
    expect((await send(bomb, { "content-encoding": "gzip" })).status).toBe(413);
    const text = gzipSync(Buffer.alloc(80 * 1024 * 1024, "[ "));
    expect((await send(text, { ...asJson, "content-encoding": "gzip" })).status).toBe(413);
    const empties = gzipSync(Buffer.alloc(8 * 1024 * 1024, Buffer.from([0x0a, 0x00])));
    const answer = await send(empties, { "content-encoding": "gzip" });
    expect([answer.status, JSON.parse(answer.text).detail]).toEqual([
      413,
      expect.stringContaining("at most"),
    ]);
  });

  it("returns 400 if its Content-Encoding is wrong", async () => {
    const answer = await send(Buffer.from("not gzip at all"), { "content-encoding": "gzip" });
    expect(answer.status).toBe(400);
  });
});

/** Key of scope ingest for one project. */
const writerKey = (projectId: string): Promise<string> => addKey(test, ["ingest"], [projectId]);

/** UTF-8 header text as Node sends it: one character per byte. */
function inHeader(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

describe("the project of a span", () => {
  const spans = [spanInit(0)];

  it.each([
    [
      "wandb.entity and wandb.project",
      { "wandb.entity": "acme", "wandb.project": "by-resource" },
      {},
      "acme/by-resource",
    ],
    ["sumtree.project", { "sumtree.project": "acme/by-name" }, {}, "acme/by-name"],
    ["the header project_id", {}, { project_id: "acme/by-header" }, "acme/by-header"],
    ["the header x-project-id", {}, { "x-project-id": "acme/by-x-header" }, "acme/by-x-header"],
    ["a header in UTF-8", {}, { project_id: inHeader("acme/größe-木") }, "acme/größe-木"],
    ["a header in Latin-1", {}, { project_id: "acme/größe" }, "acme/größe"],
    [
      "the resource before the header",
      { "sumtree.project": "acme/first" },
      { project_id: "acme/second" },
      "acme/first",
    ],
  ])("is named by %s", async (_, resource, headers, expected) => {
    expect((await send(encodeRequest({ spans, resource }), headers)).status).toBe(200);
    expect(await storedIds(expected)).toEqual([spanId(0)]);
  });

  it("returns 422 if it is missing and 403 if the key does not cover it, unless another span has a valid one", async () => {
    const nowhere = await send(encodeRequest({ spans, resource: {} }));
    expect([nowhere.status, JSON.parse(nowhere.text).detail[0].type]).toEqual([422, "missing"]);
    const key = await writerKey("acme/mine");
    const answer = await send(encodeRequest({ spans, resource: { "sumtree.project": "acme/theirs" } }), {
      authorization: authorization(key),
    });
    expect(answer.status).toBe(403);
  });

  it("is that of a key of one project, if none is named", async () => {
    const headers = { authorization: authorization(await writerKey("acme/implied")) };
    expect((await send(encodeRequest({ spans, resource: {} }), headers)).status).toBe(200);
    expect(await storedIds("acme/implied")).toEqual([spanId(0)]);
    const named = await send(encodeRequest({ spans, resource: {} }), {
      ...headers,
      project_id: "acme/named",
    });
    expect(named.status).toBe(403);
  });

  it("does not reject spans of other projects if it is rejected", async () => {
    const key = await writerKey("acme/mine");
    const body = encodeRequest(
      { spans, resource: { "sumtree.project": "acme/mine" } },
      { spans: [spanInit(1), spanInit(2)], resource: { "sumtree.project": "acme/theirs" } },
    );
    const answer = await send(body, { authorization: authorization(key) });
    expect([answer.status, partialSuccess(answer.body)]).toEqual([
      200,
      { rejected: 2, message: "2: This key may not use that project." },
    ]);
    expect(await storedIds("acme/mine")).toEqual([spanId(0)]);
  });
});

describe("the key", () => {
  it("is read from the header wandb-api-key", async () => {
    const body = encodeRequest({ spans: [spanInit(0)], resource: here() });
    const answer = await send(body, { authorization: "", "wandb-api-key": ROOT_KEY });
    expect(answer.status).toBe(401);
    const response = await test.app.inject({
      method: "POST",
      url: "/otel/v1/traces",
      headers: { "content-type": PROTOBUF, "wandb-api-key": ROOT_KEY },
      payload: body,
    });
    expect(response.statusCode).toBe(200);
  });
});

describe("when ClickHouse is unavailable", () => {
  it("returns 503 with Retry-After, and stores a retried request once", async () => {
    const body = encodeRequest({ spans: [spanInit(0), spanInit(1)], resource: here() });
    storeIsAway = true;
    const refused = await send(body);
    storeIsAway = false;
    expect([refused.status, refused.retryAfter]).toEqual([503, "5"]);
    expect((await send(body)).status).toBe(200);
    expect(await storedIds()).toEqual([spanId(0), spanId(1)]);
  });
});
