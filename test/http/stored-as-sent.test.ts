import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonical, PAYLOADS } from "../helpers/edge-payloads.ts";
import { INSTANTS, TEXTS } from "../helpers/edge-values.ts";
import { fullComplete } from "../helpers/full-requests.ts";
import { startApp, type TestResponse, type TestApp } from "../helpers/start-app.ts";

type Json = Record<string, ReturnType<TestResponse["json"]>>;

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { RATE_LIMIT_PER_MINUTE: "1000000000" } });
});
afterAll(() => test.close());

async function post(url: string, body: unknown): Promise<Json> {
  const response = await test.post(url, body);
  expect([response.status, response.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return response.json() as Json;
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** A text as it comes back: a lone surrogate has no bytes, and '' is no text. */
function asStored(text: string): string | null {
  return text === "" ? null : text.toWellFormed();
}

/** As one counts: a character outside the first 65,536 is one. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}

const texts = Object.values(TEXTS);
const sizes = [512, 513, 10_000, 10_001].flatMap((length) =>
  ["x", "é", "😀"].map((one) => one.repeat(length)),
);

/** One call for each value of a field. */
interface Sent {
  readonly id: string;
  readonly field: string;
  readonly value: unknown;
  /** Expected value; `undefined`: the request is rejected. */
  readonly stored: unknown;
}

const LIMITS: Readonly<Record<string, number>> = {
  parent_id: 512,
  thread_id: 512,
  turn_id: 512,
  wb_user_id: 512,
  wb_run_id: 512,
  op_name: 10_000,
  display_name: 10_000,
  exception: Infinity,
};

function sentCalls(): Sent[] {
  const ofTexts = Object.entries(LIMITS).flatMap(([field, limit]) =>
    [...texts, ...sizes].map((value) => ({
      field,
      value,
      stored:
        lengthOf(value) > limit ? undefined : field === "op_name" ? value.toWellFormed() : asStored(value),
    })),
  );
  const ofInstants = ["started_at", "ended_at"].flatMap((field) =>
    INSTANTS.map(([text, utc]) => ({ field, value: text, stored: utc })),
  );
  const ofSteps = [0, 1, 2 ** 53 - 1].map((step) => ({ field: "wb_run_step", value: step, stored: step }));
  const noSteps = [-1, 0.5, "1", true, []].map((step) => ({
    field: "wb_run_step",
    value: step,
    stored: undefined,
  }));
  const noText = Object.keys(LIMITS).flatMap((field) =>
    [1, true, {}, []].map((value) => ({ field, value, stored: undefined })),
  );
  return [...ofTexts, ...ofInstants, ...ofSteps, ...noSteps, ...noText].map((sent, index) => ({
    ...sent,
    id: `edge-${index}`,
  }));
}

/** How calls are sent; each gets all of them, in batches with good neighbours. */
const FORMS: Readonly<Record<string, (project: string, calls: readonly Json[]) => Promise<Json>[]>> = {
  "/calls/complete": (project, calls) => [post(`/v2/${project}/calls/complete`, { batch: calls })],
  "/call/upsert_batch": (project, calls) => [
    post("/call/upsert_batch", {
      batch: calls.flatMap((call) => {
        const { ended_at, output, summary, exception, ...start } = call;
        const { id } = call;
        return [
          { mode: "start", req: { start: { project_id: project, ...start } } },
          { mode: "end", req: { end: { project_id: project, id, ended_at, output, summary, exception } } },
        ];
      }),
    }),
  ],
};

describe.each(Object.keys(FORMS))("%s", (form) => {
  it("stores every text, instant and step as sent, or rejects it", async () => {
    const project = `acme/${form.split("/").at(-1)}`;
    const sent = sentCalls();
    const { project_id: _, ...whole } = fullComplete;
    const calls = sent.flatMap(({ id, field, value }) => [
      { ...whole, id, trace_id: "t", [field]: value },
      { ...whole, id: `beside-${id}`, trace_id: "t" },
    ]);
    const [answer] = await Promise.all(FORMS[form]!(project, calls));
    const read = await test.post("/calls/stream_query", { project_id: project });
    const found = new Map(
      linesOf(read.text)
        .map((line) => JSON.parse(line) as Json)
        .map((call) => [call["id"], call]),
    );
    const wrong = sent.flatMap(({ id, field, value, stored }) => {
      const call = found.get(id);
      const isEndMember = field === "ended_at" || field === "exception";
      const got = call === undefined ? undefined : call[field];
      const expected = stored === undefined && form === "/call/upsert_batch" && isEndMember ? null : stored;
      if (!found.has(`beside-${id}`)) return [`${field} ${JSON.stringify(value)}: its neighbour is lost`];
      return Object.is(got, expected)
        ? []
        : [`${field} ${JSON.stringify(value).slice(0, 60)}: ${JSON.stringify(got)?.slice(0, 60)}`];
    });
    expect(wrong).toEqual([]);
    const rejected = sent.filter(({ stored }) => stored === undefined).length;
    expect(answer!["rejected"]).toHaveLength(rejected);
  });
});

describe("a payload", () => {
  it.each(["inputs", "output", "attributes", "summary"])("is returned as sent: %s", async (member) => {
    const project = `acme/payload-${member}`;
    const head =
      '"trace_id":"t","op_name":"o","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z"';
    const items = PAYLOADS.map(([sent], index) => `{"id":"p${index}",${head},"${member}":${sent}}`);
    const response = await post(`/v2/${project}/calls/complete`, `{"batch":[${items.join(",")}]}`);
    expect(response).toEqual({ rejected: [] });
    const read = await test.post("/calls/stream_query", { project_id: project });
    const found = new Map(linesOf(read.text).map((line) => [/"id":"(p\d+)"/.exec(line)![1], line] as const));
    const wrong = PAYLOADS.flatMap(([sent, expected], index) => {
      const { [member]: value } = JSON.parse(canonical(found.get(`p${index}`) ?? "{}")) as Json;
      if (member === "summary") delete value?.weave;
      const got = JSON.stringify(value);
      return got === canonical(expected) ? [] : [`${sent.slice(0, 80)}: ${got?.slice(0, 80)}`];
    });
    expect(wrong).toEqual([]);
  });
});
