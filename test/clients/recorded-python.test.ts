import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rootTotals, sendAsCalls, withCacheInPrompt } from "../helpers/served-usage.ts";
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
  readonly startTimeUnixNano: string;
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
  },
);
