import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rootTotals, sendAsCalls, withCacheInPrompt, type Entries } from "../helpers/served-usage.ts";
import { sentOf } from "./never-sent.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const DIR = join(import.meta.dirname, "../fixtures/otlp/python");
const project_id = "acme/recorded";

interface Recording {
  /** Responses of the provider, in its format. */
  readonly served: readonly { readonly model: string; readonly usage: Readonly<Record<string, unknown>> }[];
  readonly request: {
    readonly resourceSpans: readonly {
      readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
    }[];
  };
}

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
}

const rootsOf = (spans: readonly Span[]): readonly Span[] =>
  spans.filter((span) => span.parentSpanId === undefined);

type Total = Readonly<Record<string, number | null>>;
const COSTS = [
  "prompt_tokens_total_cost",
  "completion_tokens_total_cost",
  "cache_read_input_tokens_total_cost",
  "cache_creation_input_tokens_total_cost",
];

/** Selects the costs, which are wrong if any count is. */
const pick = (total: Total): Total =>
  Object.fromEntries(COSTS.map((name) => [name, Number((total[name] ?? Number.NaN).toFixed(12))]));

function summed(entries: Entries | Readonly<Record<string, Total>>): Total {
  const all = Object.values(entries);
  return pick(
    Object.fromEntries(COSTS.map((name) => [name, all.reduce((sum, one) => sum + (one[name] ?? 0), 0)])),
  );
}

async function receiptTotal({ spanId, traceId }: Span): Promise<Total> {
  const answer = await test.post("/call/receipt", { project_id, call_id: spanId, trace_id: traceId });
  expect(answer.status, answer.text).toBe(200);
  return answer.json().total as Total;
}

it.each(readdirSync(DIR).map((file) => file.replace(".json", "")))(
  "%s: usage and costs are those of the provider, in every response",
  async (name) => {
    const { served, request } = JSON.parse(readFileSync(join(DIR, `${name}.json`), "utf8")) as Recording;
    const sent = await test.post("/otel/v1/traces", request);
    expect([sent.status, sent.text]).toEqual([200, "{}"]);
    const spans = request.resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans));
    const traces = [...new Set(spans.map((span) => span.traceId))];
    const startedAt = new Date(Number(BigInt(spans[0]!.startTimeUnixNano) / 1_000_000n)).toISOString();
    const answers = sentOf(name, served).map(({ model, usage }) => ({ [model]: withCacheInPrompt(usage) }));
    const truth = await sendAsCalls(test, { project: `acme/${name}`, trace: name, startedAt, answers });
    expect(await rootTotals(test, project_id, { trace_ids: traces })).toEqual(truth);
    const counted = summed(truth);
    const stats = await test.post("/usage/stats", {
      project_id,
      start: "2020-01-01T00:00:00Z",
      end: "2090-01-01T00:00:00Z",
      filter: { trace_ids: traces },
      include_costs: true,
    });
    expect(stats.status, stats.text).toBe(200);
    expect(pick(stats.json().total as Total)).toEqual(counted);
    const receipts = await Promise.all(rootsOf(spans).map((root) => receiptTotal(root)));
    expect(summed(Object.fromEntries(receipts.entries()))).toEqual(counted);
  },
);
