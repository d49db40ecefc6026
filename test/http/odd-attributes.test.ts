import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  encodeRequest,
  intAttribute,
  partialSuccess,
  spanId,
  spanInit,
  textAttribute,
} from "../helpers/otlp-request.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const count = (key: string, intValue: number) => ({ key, value: { intValue } });

interface Sent {
  readonly resource?: readonly object[];
  readonly scope?: string;
  readonly spans: readonly (readonly object[])[];
}

async function send(project: string, { resource = [], scope = "anybody", spans }: Sent): Promise<void> {
  const sent = spans.map((attributes, number) => ({
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: spanId(number),
    name: "chat",
    startTimeUnixNano: `${1_767_225_600_000_000_000n + BigInt(number)}`,
    endTimeUnixNano: "1767225609000000000",
    attributes: [
      count("gen_ai.usage.input_tokens", 10 ** number),
      text("gen_ai.response.model", "m"),
      ...attributes,
    ],
  }));
  const response = await test.post("/otel/v1/traces", {
    resourceSpans: [
      {
        resource: { attributes: [text("sumtree.project", project), ...resource] },
        scopeSpans: [{ scope: { name: scope }, spans: sent }],
      },
    ],
  });
  expect([response.status, response.json()]).toEqual([200, {}]);
}

async function promptTokens(project_id: string, query?: object): Promise<number> {
  const { call_usage } = (await test.post("/trace/usage", { project_id, query })).json() as {
    call_usage: Record<string, { m?: { prompt_tokens: number } }>;
  };
  return Object.values(call_usage).reduce((sum, { m }) => sum + (m?.prompt_tokens ?? 0), 0);
}

describe("an attribute whose name is a prefix of another one's", () => {
  const project = "acme/dotted";
  beforeAll(() =>
    send(project, {
      spans: [
        [text("team", "core"), text("team.id", "t-7"), text("a.b", "x"), text("a.b.c.d", "deep")],
        [text("team.id", "t-7"), text("a.b.c.d", "deep"), count("size.of.it", 12), count("size", 1)],
        [text("team", "core")],
        [text("team.id", "t-8"), text("note", 'says "team.id"')],
      ],
    }),
  );

  const field = (name: string) => ({ $getField: `attributes.${name}` });
  const equals = (name: string, $literal: unknown) => ({ $expr: { $eq: [field(name), { $literal }] } });

  it.each([
    ["team", "core", 101],
    ["team.id", "t-7", 11],
    [String.raw`team\.id`, "t-7", 1],
    ["team.id", "t-8", 1000],
    ["a.b", "x", 1],
    ["a.b.c.d", "deep", 11],
    ["size.of.it", 12, 10],
    ["size", 1, 10],
    ["a.b.c", "deep", 0],
  ])("is found, and so is the other: %s = %s", async (name, value, tokens) => {
    expect(await promptTokens(project, equals(name, value))).toBe(tokens);
  });

  it("can be compared as a number, too", async () => {
    const query = { $expr: { $gt: [field("size.of.it"), { $literal: 11.5 }] } };
    expect(await promptTokens(project, query)).toBe(10);
  });

  it("can be grouped and sorted by", async () => {
    const response = await test.post("/usage/stats", {
      project_id: project,
      start: "2026-01-01T00:00:00Z",
      end: "2026-01-02T00:00:00Z",
      group_by: [field("team.id")],
    });
    const groups = response.json().groups as { key: object; total: { prompt_tokens: number } }[];
    expect(groups.map(({ key, total }) => [...Object.values(key), total.prompt_tokens])).toEqual(
      expect.arrayContaining([
        [null, 100],
        ["t-7", 11],
        ["t-8", 1000],
      ]),
    );
    expect(groups).toHaveLength(3);
    const listed = await test.post("/calls/stream_query", {
      project_id: project,
      sort_by: [
        { field: "attributes.team.id", direction: "desc" },
        { field: "started_at", direction: "asc" },
      ],
    });
    const ids = listed.text
      .split("\n")
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).toEqual([3, 0, 1, 2].map(spanId));
  });
});

describe("text that is not well-formed", () => {
  const CUT = "cut \ud83e";
  const REPAIRED = "cut \ufffd";

  it.each([
    ["in a span", { spans: [[text("note", CUT)], []] }],
    ["in a span's model", { spans: [[text("gen_ai.request.model", CUT)], []] }],
    ["in a name", { spans: [[text(CUT, "x")], []] }],
    ["in a resource", { resource: [text("service.name", CUT)], spans: [[], []] }],
    ["in a scope", { scope: CUT, spans: [[], []] }],
  ])("loses no tokens: JSON, %s", async (where, sent) => {
    const project = `acme/cut-${where.replaceAll(/\W/g, "-")}`;
    await send(project, sent);
    expect(await promptTokens(project)).toBe(11);
  });

  it.each(["span", "resource"] as const)("loses no tokens: protobuf, in a %s", async (where) => {
    const project = `acme/cut-bytes-${where}`;
    const mark = "\u0001\u0002\u0003";
    const note = textAttribute("note", `cut ${where === "span" ? mark : ""}`);
    const tokens = [
      intAttribute("gen_ai.usage.input_tokens", 10n),
      textAttribute("gen_ai.response.model", "m"),
    ];
    const spans = [0, 1].map((number) => spanInit(number, { attributes: [...tokens, note] }));
    const resource = { "sumtree.project": project, host: `h${where === "resource" ? mark : ""}` };
    const bytes = encodeRequest({ spans, resource });
    // three of the four bytes of an emoji
    const broken = Buffer.from(
      bytes.toString("latin1").replaceAll(mark, Buffer.from([0xf0, 0x9f, 0xa4]).toString("latin1")),
      "latin1",
    );
    const response = await test.app.inject({
      method: "POST",
      url: "/otel/v1/traces",
      headers: { authorization: authorization(), "content-type": "application/x-protobuf" },
      payload: broken,
    });
    expect([response.statusCode, partialSuccess(response.rawPayload)]).toEqual([200, undefined]);
    expect(await promptTokens(project)).toBe(20);
  });

  it("is stored with the replacement character", async () => {
    await send("acme/cut-stored", { spans: [[text("note", CUT)]] });
    const query = { $expr: { $eq: [{ $getField: "attributes.note" }, { $literal: REPAIRED }] } };
    expect(await promptTokens("acme/cut-stored", query)).toBe(1);
  });
});
