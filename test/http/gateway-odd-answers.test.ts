import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { splitAt } from "../helpers/random-splits.ts";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import { runs } from "../helpers/runs.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({ upstream: { usageByDefault: false } });
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

const DONE = "data: [DONE]\n\n";
const USAGE = { prompt_tokens: 77, completion_tokens: 5, total_tokens: 82 };
let projects = 0;

interface Seen {
  readonly answer: RawResponse;
  readonly outcome: unknown;
  readonly usage: unknown;
  readonly used: unknown;
  readonly content: unknown;
}

/** Asks for a completion that the upstream answers so, and reads how it is recorded. */
async function ask(
  path: string,
  parts: Iterable<string | Uint8Array | number | Promise<unknown>>,
  {
    streams = true,
    ending = "end",
    basis = "",
  }: { streams?: boolean; ending?: "end" | "hang"; basis?: string } = {},
): Promise<Seen> {
  const project = `acme/odd-${++projects}`;
  test.upstream.fail({ kind: "bytes", chunks: parts, ending });
  const body = JSON.stringify({ model: "m", stream: streams, messages: [{ role: "user", content: "hi" }] });
  const lines = [`POST /v1${path} HTTP/1.1`, "host: g", `authorization: Bearer ${ROOT_KEY}`];
  const more = [`openai-project: ${project}`, `content-length: ${Buffer.byteLength(body)}`];
  const response = await sendRaw(test.port, head(...lines, ...more), body).answer;
  const read = async (): Promise<string> =>
    (await test.post("/calls/stream_query", { project_id: project })).text;
  const isRecorded = (text: string): boolean =>
    text.includes('"ended_at":"2') && text.includes(`"usage":"${basis}`);
  await until(async () => isRecorded(await read()));
  const call = JSON.parse(await read());
  const { outcome, usage } = call.attributes.sumtree;
  const content = call.output?.choices?.[0]?.message?.content;
  return { answer: response, outcome, usage, used: Object.values(call.summary.usage)[0], content };
}

describe("a JSON completion that calls itself an event stream", () => {
  const completion = (content: string): string =>
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: USAGE,
    });

  it("passes unchanged, and is recorded as JSON", async () => {
    const contents = fc.constantFrom("Fine.", 'data: "quoted"\n\ndata: [DONE]\n\n', "x".repeat(100_000));
    const around = fc.record({
      before: fc.constantFrom("", "\n", " \r\n\n", "\ufeff"),
      behind: fc.constantFrom("", DONE, `\n\n${DONE}`, "\n"),
    });
    await fc.assert(
      fc.asyncProperty(
        contents,
        around,
        fc.array(fc.nat(), { maxLength: 6 }),
        fc.boolean(),
        async (content, { before, behind }, cuts, streams) => {
          const bytes = Buffer.from(before + completion(content) + behind);
          const parts = splitAt(bytes, cuts).filter((part) => part.length > 0);
          const { answer, ...seen } = await ask("/chat/completions", parts, { streams });
          expect([answer.status, answer.complete]).toEqual([200, true]);
          expect(answer.body.equals(bytes)).toBe(true);
          expect(seen).toMatchObject({ outcome: "finished", usage: "exact", used: USAGE, content });
        },
      ),
      { numRuns: runs(12, 200) },
    );
  });
});

describe("usage of a stream", () => {
  const chunk = (more: object): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", ...more })}\n\n`;
  const said = chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "Fine." } }] });
  const last = { index: 0, delta: {}, finish_reason: "stop" };
  const counted = chunk({ choices: [], usage: USAGE });

  it.each([
    ["in the choice that ends", said + chunk({ choices: [{ ...last, usage: USAGE }] }) + DONE],
    ["in the last of its choices alone", said + chunk({ choices: [last] }) + counted + DONE],
  ])("%s is exact", async (_where, bytes) => {
    const { answer, ...seen } = await ask("/chat/completions", [bytes]);
    expect([answer.complete, seen]).toMatchObject([true, { usage: "exact", used: USAGE, content: "Fine." }]);
  });

  const stream = said + chunk({ choices: [last] }) + DONE;
  it.each<readonly [where: string, parts: readonly (string | number)[], behind?: string]>([
    ["with it", [stream + counted]],
    ["after it", [stream, 50, counted]],
    ["without an empty line", [stream, 20, counted.trimEnd()]],
    ["among comments", [stream, 20, ": so\n\n", 20, counted, 20, ": so\n\n"], ": so\n\n: so\n\n"],
  ])(
    "after the end marker, %s, is exact, and hidden from the client",
    async (_where, parts = [], behind = "") => {
      const { answer, ...seen } = await ask("/chat/completions", parts, { basis: "exact" });
      expect([answer.complete, answer.body.toString()]).toEqual([true, stream + behind]);
      expect(seen).toMatchObject({ outcome: "finished", usage: "exact", used: USAGE });
    },
  );

  it("that never arrives delays the end marker only briefly, for any upstream", async () => {
    for (const ending of ["end", "hang"] as const) {
      const { answer, ...seen } = await ask("/chat/completions", [stream], { ending });
      expect([answer.complete, answer.body.toString()]).toEqual([true, stream]);
      expect(seen).toMatchObject({ outcome: "finished", usage: "estimated" });
    }
  });
});
