import { create, toBinary, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ExportRequestSchema,
  LogRecordSchema,
  MetricSchema,
  NumberDataPointSchema,
} from "../../src/ingest/otlp/otlp_pb.ts";
import { addKey } from "../helpers/add-key.ts";
import { partialSuccess, textAttribute } from "../helpers/otlp-request.ts";
import { head, sendRaw } from "../helpers/raw-http.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let port: number;
beforeAll(async () => {
  test = await startApp();
  await test.app.listen({ port: 0, host: "127.0.0.1" });
  ({ port } = test.app.server.address() as AddressInfo);
});
afterAll(() => test.close());

const PROTOBUF = { "content-type": "application/x-protobuf" };
const JSON_TEXT = { "content-type": "application/json" };
const AT = 1_767_225_600_000_000_000n;

const encode = <Desc extends DescMessage>(schema: Desc, init: MessageInitShape<Desc>) =>
  toBinary(schema, create(schema, init));

/** A request of one resource and scope; all signals are encoded alike. */
function protobuf(items: readonly Uint8Array[], project = "acme/agents"): Buffer {
  const attributes = project === "" ? [] : [textAttribute("sumtree.project", project)];
  return Buffer.from(
    encode(ExportRequestSchema, {
      resources: [{ resource: { attributes }, scopes: [{ items: [...items] }] }],
    }),
  );
}

function json([resources, scopes, items]: readonly string[], sent: readonly unknown[]): string {
  const resource = { attributes: [{ key: "sumtree.project", value: { stringValue: "acme/agents" } }] };
  return JSON.stringify({ [resources!]: [{ resource, [scopes!]: [{ [items!]: sent }] }] });
}

const EMPTY = new Uint8Array();
const CUT = Uint8Array.of(0x2a, 0x7f);
const gauge = (points: readonly Uint8Array[]) =>
  encode(MetricSchema, { name: "g", data: { case: "gauge", value: { dataPoints: [...points] } } });
const sum = (points: readonly Uint8Array[]) =>
  encode(MetricSchema, {
    name: "tokens",
    data: { case: "sum", value: { dataPoints: [...points], aggregationTemporality: 1 } },
  });
const point = encode(NumberDataPointSchema, { timeUnixNano: AT, value: { case: "asInt", value: 7n } });
const noPoint = encode(NumberDataPointSchema, { timeUnixNano: AT });

/** Items of each signal: accepted but ignored ones, and unreadable ones. */
const SIGNALS = [
  {
    signal: "logs",
    names: ["resourceLogs", "scopeLogs", "logRecords"],
    rejected: "rejectedLogRecords",
    /** Records without a body, a time or attributes are of no known agent. */
    ignored: [encode(LogRecordSchema, { timeUnixNano: AT }), EMPTY],
    ignoredItems: 2,
    ignoredJson: [{ timeUnixNano: String(AT), severityNumber: 9, unknown: [1] }, {}],
    bad: CUT,
    badJson: { attributes: 7 },
    reason: "1: a log record cannot be decoded",
  },
  {
    signal: "metrics",
    names: ["resourceMetrics", "scopeMetrics", "metrics"],
    rejected: "rejectedDataPoints",
    ignored: [gauge([point]), sum([noPoint, point])],
    ignoredItems: 3,
    ignoredJson: [
      { name: "g", gauge: { dataPoints: [{ asInt: "7", flags: 0 }] } },
      { name: "tokens", unit: "1", sum: { aggregationTemporality: 1, dataPoints: [{}, { asInt: 7 }] } },
    ],
    bad: sum([CUT]),
    badJson: { name: "tokens", sum: { aggregationTemporality: 1, dataPoints: [{ asInt: "many" }] } },
    reason: "1: a number data point cannot be decoded",
  },
] as const;

async function send(
  url: string,
  payload: Buffer | string | undefined,
  headers: Record<string, string> = PROTOBUF,
) {
  const response = await test.app.inject({
    method: "POST",
    url,
    headers: { authorization: authorization(), ...headers },
    ...(payload !== undefined && { payload }),
  });
  return {
    status: response.statusCode,
    type: response.headers["content-type"],
    text: response.payload,
    body: response.rawPayload,
  };
}

async function countIgnored(signal: string): Promise<number> {
  const { payload } = await test.app.inject({ url: "/metrics", headers: { authorization: authorization() } });
  return Number(
    new RegExp(`^sumtree_otlp_ignored_total\\{signal="${signal}"\\} (\\d+)`, "m").exec(payload)?.[1] ?? 0,
  );
}

describe.each(SIGNALS)("POST /otel/v1/$signal", (one) => {
  const url = `/otel/v1/${one.signal}`;

  it.each([url, `/agents${url}`])("accepts what it does not keep, in both encodings: %s", async (path) => {
    const before = await countIgnored(one.signal);
    const binary = await send(path, protobuf(one.ignored));
    expect(binary).toMatchObject({ status: 200, type: PROTOBUF["content-type"], text: "" });
    const text = await send(path, json(one.names, one.ignoredJson), JSON_TEXT);
    expect(text).toMatchObject({ status: 200, type: "application/json; charset=utf-8", text: "{}" });
    expect(await countIgnored(one.signal)).toBe(before + 2 * one.ignoredItems);
  });

  it("rejects one that cannot be read alone, and says so in the encoding of the request", async () => {
    const before = await countIgnored(one.signal);
    const [first, last] = one.ignored;
    const binary = await send(url, protobuf([first, one.bad, last]));
    expect([binary.status, partialSuccess(binary.body)]).toEqual([200, { rejected: 1, message: one.reason }]);
    const [firstJson, lastJson] = one.ignoredJson;
    const text = await send(url, json(one.names, [firstJson, one.badJson, lastJson]), JSON_TEXT);
    expect([text.status, JSON.parse(text.text)]).toEqual([
      200,
      { partialSuccess: { [one.rejected]: "1", errorMessage: one.reason } },
    ]);
    expect(await countIgnored(one.signal)).toBe(before + 2 * one.ignoredItems);
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
  ])("reads %s", async (encoding, pack) => {
    const packed = { "content-encoding": encoding };
    const binary = await send(url, pack(protobuf([one.bad])), { ...PROTOBUF, ...packed });
    expect(partialSuccess(binary.body)?.rejected).toBe(1);
    const text = await send(url, pack(json(one.names, [one.badJson])), { ...JSON_TEXT, ...packed });
    expect(JSON.parse(text.text).partialSuccess[one.rejected]).toBe("1");
  });

  it("reads a body in chunks", async () => {
    const body = json(one.names, one.ignoredJson);
    const lines = [`POST ${url} HTTP/1.1`, "host: s", `authorization: ${authorization()}`];
    const start = head(...lines, "content-type: application/json", "transfer-encoding: chunked");
    const chunks = [body.slice(0, 9), body.slice(9)].map(
      (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
    );
    expect(await sendRaw(port, start, ...chunks, "0\r\n\r\n").answer).toMatchObject({
      status: 200,
      body: Buffer.from("{}"),
    });
  });
});

describe.each(SIGNALS)("POST /otel/v1/$signal, of odd requests,", (one) => {
  const url = `/otel/v1/${one.signal}`;

  it("accepts an empty request, and requests of other signals in JSON", async () => {
    expect((await send(url, Buffer.alloc(0))).status).toBe(200);
    expect((await send(url, "{}", JSON_TEXT)).text).toBe("{}");
    for (const other of SIGNALS.filter(({ signal }) => signal !== one.signal))
      expect((await send(url, json(other.names, [other.badJson]), JSON_TEXT)).text).toBe("{}");
  });

  it("answers requests of other signals in protobuf, which are encoded alike", async () => {
    for (const { ignored, bad } of SIGNALS)
      expect((await send(url, protobuf([...ignored, bad]))).status).toBe(200);
  });

  it("answers 400 to bytes, 415 to other media types, 422 to other JSON", async () => {
    const bytes = await send(url, Buffer.from("ffff", "hex"));
    expect([bytes.status, bytes.text]).toEqual([
      400,
      expect.stringMatching(/Export(Logs|Metrics)ServiceRequest/),
    ]);
    expect((await send(url, "<a/>", { "content-type": "text/xml" })).status).toBe(415);
    const other = await send(url, JSON.stringify({ [one.names[0]]: [{ [one.names[1]]: 7 }] }), JSON_TEXT);
    expect([other.status, JSON.parse(other.text).detail[0].loc]).toEqual([
      422,
      ["body", one.names[0], 0, one.names[1]],
    ]);
  });

  it("answers 413 to too many bytes and too many items", async () => {
    const bomb = gzipSync(Buffer.alloc(33 * 1024 * 1024));
    expect((await send(url, bomb, { ...PROTOBUF, "content-encoding": "gzip" })).status).toBe(413);
    const many = Array.from({ length: 200_001 }, () => EMPTY);
    expect((await send(url, protobuf(many))).status).toBe(413);
    expect(
      (
        await send(
          url,
          json(
            one.names,
            many.map(() => ({})),
          ),
          JSON_TEXT,
        )
      ).status,
    ).toBe(413);
  });

  it("reads 100,000 of them, and serves others meanwhile", async () => {
    const before = await countIgnored(one.signal);
    const large = send(url, protobuf(Array<Uint8Array>(100_000).fill(one.ignored[0])));
    let served = 0;
    const isLeft = async () => (await Promise.race([large, nextTurn("left")])) === "left";
    while (await isLeft()) {
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
      served += 1;
    }
    expect((await large).status).toBe(200);
    expect(served).toBeGreaterThan(10);
    expect(await countIgnored(one.signal)).toBe(before + 100_000);
  });
});

it("POST /otel/v1/metrics bounds the data points of all metrics together", async () => {
  const metric = gauge(Array<Uint8Array>(100_001).fill(point));
  expect((await send("/otel/v1/metrics", protobuf([metric]))).status).toBe(200);
  expect((await send("/otel/v1/metrics", protobuf([metric, metric]))).status).toBe(413);
});

describe("the project of logs and metrics", () => {
  const keyOf = async (...projects: string[]) => ({
    ...PROTOBUF,
    authorization: authorization(await addKey(test, ["ingest"], projects)),
  });

  it.each(SIGNALS)("is that of a key of one project, if none is named: $signal", async (one) => {
    const body = protobuf(one.ignored, "");
    const url = `/otel/v1/${one.signal}`;
    expect((await send(url, body, await keyOf("acme/agents"))).status).toBe(200);
    for (const projects of [["acme/*"], ["*"], ["acme/agents", "acme/other"]]) {
      const answer = await send(url, body, await keyOf(...projects));
      expect([answer.status, answer.text]).toEqual([
        422,
        expect.stringContaining("use a key of one project"),
      ]);
    }
  });

  it.each(SIGNALS)("is refused unless the key covers it: $signal", async (one) => {
    const url = `/otel/v1/${one.signal}`;
    const headers = await keyOf("acme/agents");
    expect((await send(url, protobuf(one.ignored, "acme/other"), headers)).status).toBe(403);
    const { project_id } = { project_id: "acme/other" };
    expect((await send(url, protobuf(one.ignored, ""), { ...headers, project_id })).status).toBe(403);
  });

  it("rejects those of other resources alone, each data point counted", async () => {
    const [own, other] = ["acme/agents", "acme/other"].map((name) => ({
      resource: { attributes: [textAttribute("sumtree.project", name)] },
      scopes: [{ items: [gauge([point, point]), sum([point])] }],
    }));
    const body = Buffer.from(encode(ExportRequestSchema, { resources: [own!, other!] }));
    const answer = await send("/otel/v1/metrics", body, await keyOf("acme/agents"));
    expect([answer.status, partialSuccess(answer.body)]).toEqual([
      200,
      { rejected: 3, message: "3: This key may not use that project." },
    ]);
  });
});
