import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { param, sql } from "../../src/query/sql.ts";
import type { AnswerEvent } from "../models/chat-answers/answer-event.ts";
import { drawAnswer, inOrder, type Answer } from "../models/chat-answers/answers.ts";
import { drawFrom, type Draw } from "../models/chat-answers/draw.ts";
import type { Json } from "../models/chat-answers/step.ts";
import {
  bodyUsage,
  estimated,
  expectedOfBody,
  expectedUsage,
  type ExpectedUsage,
} from "../models/chat-answers/usage.ts";
import { splitAt } from "../helpers/random-splits.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed, seededRandom } from "../helpers/seeded-random.ts";
import {
  bearer,
  startGateway,
  startSecondApp,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

const RUNS = runs(30, 1000);
const AT_ONCE = 8;
const PROJECT = "acme/answers";
const PROMPT = "What did every call of this trace really use?";

/** An exchange: what the upstream sends, and what must be recorded of it. */
interface Exchange {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly writes: readonly Buffer[];
  readonly isWhole: boolean;
  readonly asksUsage: boolean;
  readonly asked: number;
  readonly expected: Expected;
}

interface Expected {
  readonly outcome: "finished" | "error" | "upstream_cut";
  readonly exception: unknown;
  readonly choices: readonly Json[];
  readonly head: unknown;
  readonly basis: "exact" | "partial" | "estimated" | "none";
  readonly counts: ExpectedUsage["counts"];
}

let test: TestGateway;
let app: SecondApp;
let upstream: Server;
const responses = new Map<string, Exchange>();
beforeAll(async () => {
  test = await startGateway();
  upstream = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const { port } = upstream.address() as AddressInfo;
  app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: `http://127.0.0.1:${port}/v1` });
});
afterAll(async () => {
  await app.close();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
  await test.close();
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  for await (const _part of request);
  const { headers, writes } = responses.get(String(request.headers["x-client-request-id"]))!;
  response.writeHead(200, headers);
  for (const write of writes)
    await new Promise<void>((resolve) => response.write(write, () => setImmediate(resolve)));
  response.end();
}

it(
  `the gateway records the returned output and usage: ${RUNS} random responses, streamed or not, truncated anywhere`,
  { timeout: 60_000 + RUNS * 500 },
  async () => {
    const seed = chosenSeed();
    const calls = new Map<string, string>();
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, worker) => {
        for (let run = worker; run < RUNS; run += AT_ONCE) {
          const id = `run-${run}`;
          const exchange = drawExchange(drawFrom(seededRandom(seed * 7919 + run)));
          responses.set(id, exchange);
          calls.set(id, await relay(id, exchange));
        }
      }),
    );
    await until(async () => (await countRecorded()) >= RUNS);
    const recorded = await recordedCalls();
    for (const [id, { expected, bytes }] of responses) {
      expect(recorded.get(calls.get(id)!), `${id}: ${bytes.toString("latin1").slice(0, 3000)}`).toEqual(
        expected,
      );
    }
  },
);

/** Returns the id of the call that is recorded. */
async function relay(id: string, { bytes, isWhole, asked, asksUsage }: Exchange): Promise<string> {
  const response = await fetch(`${app.url}/v1/chat/completions`, {
    method: "POST",
    headers: { ...bearer, "openai-project": PROJECT, "x-client-request-id": id },
    body: JSON.stringify({
      model: "asked-1",
      messages: asked === 0 ? [] : [{ role: "user", content: PROMPT }],
      ...(asksUsage && { stream: true, stream_options: { include_usage: true } }),
    }),
  });
  const got = await response.bytes().then(
    (body) => Buffer.from(body),
    () => undefined,
  );
  if (isWhole && response.headers.get("content-encoding") === null) expect(got?.equals(bytes), id).toBe(true);
  return response.headers.get("x-sumtree-call-id")!;
}

function drawExchange(draw: Draw): Exchange {
  const made = drawAnswer(draw);
  const asked = draw.chance(0.9) ? Buffer.byteLength(PROMPT) : 0;
  const isStream = draw.chance(0.65);
  const { bytes, isWhole, expected } = isStream ? streamed(draw, made, asked) : inOnePiece(draw, made, asked);
  const isPacked = isWhole && draw.chance(0.15);
  const sent = isPacked ? gzipSync(bytes) : bytes;
  const cuts = Array.from({ length: draw.upTo(8) }, () => draw.upTo(1e9));
  return {
    bytes,
    isWhole,
    asked,
    asksUsage: isStream,
    headers: {
      "content-type": isStream ? "text/event-stream" : "application/json",
      ...(isPacked && { "content-encoding": "gzip" }),
    },
    writes: splitAt(sent, cuts).filter((write) => write.length > 0),
    expected,
  };
}

/** Token ids beside the answer that make it too large to be read whole. */
const idsOf = (bytes: number): Json => ({
  prompt_token_ids: Array.from({ length: bytes / 7 }, (_, at) => 100_000 + at),
});

function inOnePiece(
  draw: Draw,
  made: Answer,
  asked: number,
): Pick<Exchange, "bytes" | "isWhole" | "expected"> {
  const usage = bodyUsage(draw);
  const { body, bodyError, wrote, head } = made;
  const choices = (body["choices"] ?? []) as Json[];
  const told = usage === undefined ? {} : { usage };
  const large = draw.chance(0.1) ? idsOf(80_000) : {};
  return {
    bytes: Buffer.from(
      JSON.stringify({ ...large, ...(draw.chance(0.5) ? { ...told, ...body } : { ...body, ...told }) }),
    ),
    isWhole: true,
    expected: {
      outcome: bodyError === undefined ? "finished" : "error",
      exception: bodyError?.message ?? "",
      choices,
      head: bodyError?.replaces === undefined ? headOf(head, choices) : {},
      ...resolved(expectedOfBody(usage, { asked, wrote }), {
        asked,
        wrote,
        isError: bodyError !== undefined,
      }),
    },
  };
}

function streamed(draw: Draw, made: Answer, asked: number): Pick<Exchange, "bytes" | "isWhole" | "expected"> {
  const isCut = draw.chance(0.4);
  const largest = !isCut && draw.chance(0.05) ? draw.upTo(made.events.length - 1) : -1;
  const texts = made.events.map(({ chunk }, at) => {
    const data = at === largest ? { ...chunk, ...idsOf(1_200_000) } : chunk;
    return `data: ${JSON.stringify(data)}\n\n`;
  });
  const whole = Buffer.from([...texts, ...(made.done ? ["data: [DONE]\n\n"] : [])].join(""));
  const at = isCut ? draw.upTo(texts.length) : texts.length;
  const passed = made.events.slice(0, at);
  const torn = isCut ? tornOf(draw, texts[at]) : "";
  const bytes = isCut ? Buffer.from(texts.slice(0, at).join("") + torn) : whole;
  const error = passed.find((event) => event.error !== undefined)?.error;
  const isDone = made.done && !isCut;
  const isFailed = passed.some((event) => event.error?.ends === true);
  const isComplete = isDone || isFailed || (torn === "" && hasEnded(passed));
  const choices = new Map<number, Json>();
  for (const event of passed) event.add(choices);
  const wrote = passed.reduce((sum, event) => sum + event.wrote, 0);
  const outcome = !isComplete ? "upstream_cut" : error === undefined ? "finished" : "error";
  const all = inOrder(choices);
  return {
    bytes,
    isWhole: !isCut && isComplete,
    expected: {
      outcome,
      exception: error?.message ?? (isComplete ? "" : expect.stringContaining("upstream")),
      choices: all,
      // what an event that is cut tells beside its text may count
      head:
        torn === "" || passed.some(({ chunk }) => chunk["id"] !== undefined)
          ? headOf(seen(made.head, passed), all)
          : expect.anything(),
      ...resolved(expectedUsage(passed, { complete: isComplete, asked }), {
        asked,
        wrote,
        isError: outcome === "error",
      }),
    },
  };
}

const FIELD = "data: ";

/** The beginning of an event that is cut before it tells anything but text. */
function tornOf(draw: Draw, text: string | undefined): string {
  if (text === undefined || draw.chance(0.3)) return "";
  const telling = /"(?:usage|x_groq|error|detail|finish_reason)"/.exec(text)?.index ?? text.length - 4;
  return text.slice(0, FIELD.length + draw.upTo(telling - FIELD.length));
}

/** Nothing but an error has been told where no chunk has passed. */
function seen(head: Json, events: readonly AnswerEvent[]): Json {
  return events.some(({ chunk }) => chunk["id"] !== undefined) ? head : {};
}

function hasEnded(events: readonly AnswerEvent[]): boolean {
  const begun = events.flatMap(({ choice }) => (choice === undefined ? [] : [choice]));
  const ended = new Set(events.flatMap(({ ends }) => (ends === undefined ? [] : [ends])));
  return begun.length > 0 && begun.every((choice) => ended.has(choice));
}

/** Without any choice only the facts of an answer are kept. */
function headOf(head: Json, choices: readonly Json[]): Json {
  if (choices.length > 0) return { ...head, object: "chat.completion" };
  return Object.fromEntries(
    Object.entries(head).filter(([name]) => ["id", "model", "service_tier"].includes(name)),
  );
}

function resolved(
  { basis, counts }: ExpectedUsage,
  { asked, wrote, isError }: { asked: number; wrote: number; isError: boolean },
): Pick<Expected, "basis" | "counts"> {
  if (basis !== "none") return { basis, counts };
  const [prompt_tokens, completion_tokens] = [estimated(asked), estimated(wrote)];
  return isError && wrote === 0
    ? { basis: "none", counts: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }
    : {
        basis: "estimated",
        counts: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
      };
}

type Row = Record<"id" | "output" | "attributes" | "exception" | "usage", string>;

async function countRecorded(): Promise<number> {
  const rows = await test.engine.rows<{ n: string }>(
    sql`SELECT toString(count()) AS n FROM calls FINAL WHERE project_id = ${param("String", PROJECT)}`,
    { name: "test" },
  );
  return Number(rows[0]!.n);
}

async function recordedCalls(): Promise<Map<string, Expected>> {
  const rows = await test.engine.rows<Row>(
    sql`SELECT id, output, attributes, exception, usage FROM calls FINAL WHERE project_id = ${param("String", PROJECT)}`,
    { name: "test" },
  );
  return new Map(rows.map((row) => [row.id, recordedIn(row)]));
}

function recordedIn(row: Row): Expected {
  const {
    choices = [],
    usage: _usage,
    x_groq: _groq,
    error: _error,
    detail: _detail,
    ...head
  } = (JSON.parse(row.output) ?? {}) as Json;
  const { outcome, usage: basis } = (
    JSON.parse(row.attributes) as { sumtree: { outcome: Expected["outcome"]; usage: Expected["basis"] } }
  ).sumtree;
  const [entry = []] = JSON.parse(row.usage) as (string | number)[][];
  const [prompt_tokens = 0, completion_tokens = 0, total_tokens = 0] = entry.slice(2, 5).map(Number);
  return {
    outcome,
    exception: row.exception,
    choices: choices as Json[],
    head,
    basis,
    counts: { prompt_tokens, completion_tokens, total_tokens },
  };
}
