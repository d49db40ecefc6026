import fc from "fast-check";
import { INCLUSIVE } from "../../src/calls/events/message-columns.ts";
import type { Inclusive } from "../../src/calls/events/message-columns.ts";
import type { UsageSource } from "../../src/calls/events/completion.ts";
import { unitsAndStated, unitsOf, type UnitCounts } from "../../src/usage/units.ts";
import { isNothing, type Usage } from "../../src/usage/usage.ts";

/** A call as the roll-up sees it, written so that a test can read it. */
export interface CallRow {
  readonly id: string;
  /** '' for none. */
  readonly parentId: string;
  readonly finished: boolean;
  readonly inclusive: Inclusive;
  readonly selected: boolean;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly usage: readonly Usage[];
  /** The completion whose usage it is. */
  readonly completionId?: string | undefined;
  /** Default: a client. */
  readonly usageSource?: UsageSource;
}

const LLMS = ["gpt-4o", "claude-sonnet-4-5", "no-such-model"] as const;

/** Some units, each used at least once. */
export function unitCounts(count: fc.Arbitrary<number>): fc.Arbitrary<UnitCounts> {
  return fc
    .array(fc.tuple(fc.constantFrom(...unitsAndStated), count), { minLength: 1, maxLength: 3 })
    .map(
      (pairs) =>
        unitsOf(unitsAndStated, (unit) => 1 + (pairs.find(([name]) => name === unit)?.[1] ?? -1)) ?? {},
    );
}

const FEW_UNITS = [
  "web_searches",
  "output_audio_tokens",
  "cache_write_1h_tokens",
  "stated_ticks",
  "stated_usages",
] as const;
const someUnits = fc
  .array(fc.tuple(fc.constantFrom(...FEW_UNITS), fc.integer({ min: 1, max: 50 })), { minLength: 1 })
  .map((pairs): UnitCounts => Object.fromEntries(pairs));
const service = fc.record({
  provider: fc.constantFrom("", "openai", "nobody-knows"),
  tier: fc.constantFrom("flex", "priority"),
});

/** Usage with at least one token or request: empty usage is not stored. */
const usage: fc.Arbitrary<Usage> = fc
  .record({
    llm: fc.constantFrom(...LLMS),
    requests: fc.nat(3),
    promptTokens: fc.nat(5000),
    completionTokens: fc.nat(5000),
    totalTokens: fc.nat(9000),
    cacheReadTokens: fc.nat(3000),
    cacheCreationTokens: fc.nat(3000),
    cacheOutsidePrompt: fc.boolean(),
    units: fc.option(someUnits, { nil: undefined, freq: 3 }),
    service: fc.option(service, { nil: undefined, freq: 3 }),
  })
  .filter((one) => !isNothing(one));

export interface ForestOptions {
  readonly maxCalls: number;
  readonly inclusive: boolean;
  readonly cycles: boolean;
  /** Whether calls report completions of one id. Default: no. */
  readonly shared?: boolean;
  /** Whether some calls count elsewhere. Default: no. */
  readonly elsewhere?: boolean;
}

const COMPLETIONS = ["chatcmpl-AbC0dEf1GhI2", "msg_01XyZ9aBcDeF7", "resp_0f1e2d3c4b5a6978"];

/** Random calls of one trace: several models, missing parents, unfinished calls, some of them selected. */
export function forest(options: ForestOptions): fc.Arbitrary<CallRow[]> {
  return fc
    .array(
      fc.record({
        parent: fc.nat(options.maxCalls),
        kind: fc.nat(9),
        finished: fc.boolean(),
        inclusive: fc.constantFrom(...(options.inclusive ? INCLUSIVE : ([false] as const))),
        selected: fc.boolean(),
        usage: fc.uniqueArray(usage, { maxLength: 3, selector: (one) => one.llm }),
        startedAtMs: fc.nat(1_000_000),
        ...(options.elsewhere === true && {
          usageSource: fc.constantFrom<UsageSource>("client", "client", "elsewhere"),
        }),
        ...(options.shared === true && {
          completionId: fc.option(fc.constantFrom(...COMPLETIONS), { nil: undefined, freq: 4 }),
          usageSource: fc.constantFrom<UsageSource>("client", "client", "client", "gateway", "estimate"),
        }),
      }),
      { minLength: 1, maxLength: options.maxCalls },
    )
    .map((drafts) =>
      onceByGateway(
        drafts.map(({ parent, kind, ...draft }, number) => ({
          id: `c${number}`,
          parentId: parentOf(number, parent, kind, { count: drafts.length, cycles: options.cycles }),
          ...draft,
        })),
      ),
    );
}

/** The gateway passes a completion on once; of an id that comes twice the roll-up would say that it is none. */
function onceByGateway(calls: readonly CallRow[]): CallRow[] {
  const passedOn = new Set<string>();
  return calls.map((call) => {
    const { completionId, usageSource = "client" } = call;
    if (completionId === undefined || usageSource === "client") return call;
    if (passedOn.has(completionId)) return { ...call, usageSource: "client" };
    passedOn.add(completionId);
    return call;
  });
}

function parentOf(
  number: number,
  pick: number,
  kind: number,
  forest: { count: number; cycles: boolean },
): string {
  if (kind === 0) return "";
  if (kind === 1) return "somebody-else";
  if (forest.cycles) return `c${pick % forest.count}`;
  return number === 0 ? "" : `c${pick % number}`;
}
