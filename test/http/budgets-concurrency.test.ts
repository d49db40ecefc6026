import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addKey } from "../helpers/add-key.ts";
import {
  budgetsOf,
  NOTHING,
  overIn,
  ROUNDING,
  setBudget,
  statesOf,
  UNITS,
  usedIn,
  type Amounts,
  type Refusal,
  type Unit,
} from "../helpers/budgeted.ts";
import { startProvided, type ProvidedApp } from "../helpers/provider.ts";
import { nothingLeft } from "../helpers/recorded-calls.ts";
import { answerOf, type Counts, type Json, type Served } from "../helpers/reference-upstream/models.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

const REQUESTS = runs(100, 1000);
const random = seededRandom();
const below = (count: number): number => Math.floor(random.next() * count);

/** A provider that bills at random, no more than its request allows. */
let test: ProvidedApp;
const served: Served[] = [];
beforeAll(async () => {
  test = await startProvided(
    async ({ url, body }, response) => {
      const asked = JSON.parse(body.toString()) as Json;
      const answer = answerOf(url.slice("/v1".length), asked, asked["bills"] as Counts)!;
      served.push(answer.served);
      response.writeHead(200, { "content-type": answer.type });
      const id = `_0aB1cD2eF3gH4iJ5k${served.length}"`;
      for (const piece of answer.pieces) {
        response.write(piece.replaceAll(/(?<=resp|msg|chatcmpl)[-_]1"/g, id));
        await new Promise(setImmediate);
      }
      response.end();
    },
    (origin) => ({
      CHAT_UPSTREAM_URL: `${origin}/v1`,
      ANTHROPIC_UPSTREAM_URL: `${origin}/v1`,
      RATE_LIMIT_PER_MINUTE: "1000000000",
      KEY_MAX_CONCURRENT: "100000",
    }),
  );
});
afterAll(() => test.close());

interface Sent {
  readonly path: string;
  readonly body: Json;
  readonly key: string;
  readonly user: string;
  readonly model: string;
  /** Of the same price and size. */
  readonly shape: string;
}

const APIS: readonly ((stream: boolean, text: string, user: string) => readonly [string, Json])[] = [
  (stream, text, user) => [
    "/chat/completions",
    { stream, user, max_tokens: 50, messages: [{ role: "user", content: text }] },
  ],
  (stream, text, user) => [
    "/responses",
    { stream, safety_identifier: user, max_output_tokens: 50, input: text },
  ],
  (stream, text, user) => [
    "/messages",
    { stream, metadata: { user_id: user }, max_tokens: 50, messages: [{ role: "user", content: text }] },
  ],
];
const MODELS = ["gpt-4o", "gpt-5", "claude-sonnet-4-5"];
const USERS = ["ada", "ben", "cyd", "dan"];
const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;

function draw(keys: readonly string[]): Sent {
  const [user, model, key, words, api] = [pick(USERS), pick(MODELS), pick(keys), pick([30, 80]), pick(APIS)];
  const [path, body] = api(below(2) === 0, "words ".repeat(words), user);
  const bills: Counts = {
    input: 100 + below(100),
    cached: below(20),
    written: below(20),
    output: 1 + below(49),
  };
  return { path, body: { ...body, model, bills }, key, user, model, shape: `${path} ${model} ${words}` };
}

interface Refused extends Refusal {
  readonly value: string | null;
  readonly unit: Unit;
  readonly limit: Readonly<Record<Unit, number | null>>;
}

interface Outcome {
  readonly sent: Sent;
  readonly status: number;
  readonly headers: Headers;
  /** Undefined after success. */
  readonly error: Refused | undefined;
}

async function send(project: string, sent: Sent): Promise<Outcome> {
  const response = await fetch(`${test.origin}/v1${sent.path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${sent.key}`,
      "content-type": "application/json",
      "x-sumtree-project": project,
    },
    body: JSON.stringify(sent.body),
  });
  const text = await response.text();
  const error = response.ok ? undefined : (JSON.parse(text) as { readonly error: Refused }).error;
  return { sent, status: response.status, headers: response.headers, error };
}

const PLENTY = { usd: 1000, tokens: 1e9, requests: 1e6 };
const holds = new Map<string, Amounts>();

/** Measures what each shape of request holds: what it leaves of plenty. */
async function measureHolds(all: readonly Sent[]): Promise<void> {
  const shapes = [...Map.groupBy(all, ({ shape }) => shape)];
  await Promise.all(
    shapes.map(async ([shape, [one]], index) => {
      const project = `acme/measured-${index}`;
      await setBudget(test, project, { limit: PLENTY });
      const { headers } = await send(project, { ...one!, key: ROOT_KEY });
      const parts = headers.get("x-sumtree-budget-remaining")!.split("; ");
      const left = Object.fromEntries(parts.map((part) => part.split("=")));
      const [usd, tokens, requests] = UNITS.map((unit) => PLENTY[unit] - Number(left[unit]));
      holds.set(shape, { usd: usd!, tokens: tokens!, requests: requests! });
    }),
  );
}

/** Rejects a refusal that is not as the contract says, by its own facts. */
function checkRefusal({ sent, status, headers, error }: Outcome): void {
  const { unit, limit, spent, held, code, type } = error!;
  const own = holds.get(sent.shape)![unit];
  const [needed, all] = [spent![unit] + own, limit[unit]!];
  const what = JSON.stringify({ ...error, own });
  if (status === 429) {
    expect([code, headers.get("retry-after"), headers.get("x-should-retry")]).toEqual([
      "budget_held",
      "2",
      null,
    ]);
    expect(needed, what).toBeLessThanOrEqual(all + ROUNDING);
    expect(spent![unit] + held![unit], what).toBeLessThanOrEqual(all + ROUNDING);
    expect(needed + held![unit], what).toBeGreaterThan(all);
    return;
  }
  const shape = sent.path === "/messages" ? "billing_error" : "insufficient_quota";
  expect([status, code, type, headers.get("x-should-retry"), headers.get("retry-after")]).toEqual([
    402,
    "budget_exceeded",
    shape,
    "false",
    null,
  ]);
  expect(needed, what).toBeGreaterThan(all);
}

describe(`${REQUESTS} requests at once under several budgets (seed ${random.seed})`, () => {
  it("use no more than the limits, and none is refused that fits", async () => {
    const project = "acme/flood";
    const keys = [await addKey(test, ["train"], [project]), await addKey(test, ["train"], [project])];
    const all = Array.from({ length: REQUESTS }, () => draw(keys));
    await measureHolds(all);
    served.length = 0;
    const mean = [...holds.values()].reduce((sum, { usd }) => sum + usd, 0) / holds.size;
    for (const budget of [
      { limit: { usd: 10 * mean }, window: "day", timezone: "Asia/Kolkata" },
      { scope: "api_key", limit: { tokens: 5000, usd: 8 * mean }, window: "month" },
      { scope: "svc_user_id", limit: { usd: 5 * mean, requests: 40 } },
      { scope: "llm", limit: { tokens: 4000 }, window: "week" },
    ])
      await setBudget(test, project, budget);

    const over: object[] = [];
    const running = new AbortController();
    const sampling = (async () => {
      while (!running.signal.aborted) {
        over.push(...overIn(await budgetsOf(test, project)));
        await delay(20);
      }
    })();
    const refused: Outcome[] = [];
    let waiting = all;
    let passed = 0;
    while (waiting.length > 0) {
      const outcomes = await Promise.all(waiting.map((one) => send(project, one)));
      await nothingLeft(test);
      passed += outcomes.filter(({ status }) => status === 200).length;
      refused.push(...outcomes.filter(({ status }) => status !== 200));
      waiting = outcomes.filter(({ status }) => status === 429).map(({ sent }) => sent);
    }
    running.abort();
    await sampling;

    for (const one of refused) checkRefusal(one);
    const budgets = await budgetsOf(test, project);
    expect([...over, ...overIn(budgets)]).toEqual([]);
    expect(budgets.flatMap(statesOf).map(({ held }) => held)).toEqual(
      budgets.flatMap(statesOf).map(() => NOTHING),
    );
    // what was refused for good does not fit now either: nothing was spent then that is not spent now
    for (const { sent, error } of refused.filter(({ status }) => status === 402)) {
      const budget = budgets.find(({ id }) => id === error!.budget)!;
      const { spent } = statesOf(budget).find(({ value }) => value === error!.value)!;
      expect(spent[error!.unit] + holds.get(sent.shape)![error!.unit]).toBeGreaterThan(
        budget.limit[error!.unit]!,
      );
    }
    const used = await usedIn(test, project);
    expect(budgets[0]!.spent).toEqual(used);
    const tokens = served.reduce((sum, { total_tokens = 0 }) => sum + total_tokens, 0);
    expect([used.requests, used.tokens]).toEqual([passed, tokens]);
    expect(passed).toBeGreaterThanOrEqual(10);
  });
});
