import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { budgetsOf, sendChat, setBudget, type Amounts, type Refusal } from "../helpers/budgeted.ts";
import { startProvided, type ProvidedApp } from "../helpers/provider.ts";
import { nothingPending } from "../helpers/recorded-calls.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed, seededRandom, type SeededRandom } from "../helpers/seeded-random.ts";
import { until } from "../helpers/until.ts";

/** A provider that answers each request when the test says so. */
const waiting = new Map<string, ServerResponse>();
let nowMs = 0;
let test: ProvidedApp;
beforeAll(async () => {
  test = await startProvided(
    ({ headers }, response) => void waiting.set(String(headers["x-stainless-lang"]), response),
    (origin) => ({ CHAT_UPSTREAM_URL: `${origin}/v1` }),
    { clock: { now: () => nowMs } },
  );
});
afterAll(() => test.close());

const HOUR_MS = 3_600_000;
const USERS = ["ada", "bob"];
/** Of equal length, so that bodies are. */
const MODELS = ["red", "tan"];
const UNITS = ["usd", "tokens", "requests"] as const;

interface Call {
  readonly id: string;
  readonly user: string;
  readonly model: string;
  readonly startedMs: number;
  readonly prompt: number;
  readonly completion: number;
}

interface Open {
  readonly name: string;
  readonly user: string;
  readonly model: string;
  readonly startedMs: number;
  readonly worst: Amounts;
  readonly maxTokens: number;
  readonly abort: AbortController;
  readonly response: Promise<Response | undefined>;
}

interface ModelBudget {
  readonly id: string;
  readonly scope: "project" | "svc_user_id" | "llm";
  readonly match: string;
  limit: { readonly usd?: number; readonly tokens?: number; readonly requests?: number };
  readonly isHourly: boolean;
}

/** What a project has recorded and holds, computed anew each time. Prices in millionths of a dollar, so that sums are exact. */
class Model {
  readonly budgets: ModelBudget[] = [];
  calls: Call[] = [];
  open: Open[] = [];
  readonly prices = new Map(MODELS.map((model) => [model, 1]));

  amountsOf({ model, prompt, completion }: Pick<Call, "model" | "prompt" | "completion">): Amounts {
    const tokens = prompt + completion;
    return { usd: tokens * this.prices.get(model)!, tokens, requests: 1 };
  }

  spent(budget: ModelBudget, value: string | null, atMs: number): Amounts {
    const own = this.calls.filter((call) => isOf(budget, value, call) && isIn(budget, call.startedMs, atMs));
    return own.map((call) => this.amountsOf(call)).reduce(plus, ZERO);
  }

  held(budget: ModelBudget, value: string | null, atMs: number): Amounts {
    const own = this.open.filter((one) => isOf(budget, value, one) && isIn(budget, one.startedMs, atMs));
    return own.map(({ worst }) => worst).reduce(plus, ZERO);
  }

  /** The verdict about a request: the worst of all its budgets. */
  verdict(request: Pick<Call, "user" | "model">, worst: Amounts): "200" | "402" | "429" {
    const verdicts = this.budgets.flatMap((budget) => {
      const value = valueOf(budget, request);
      if (value === undefined) return [];
      const [spent, held] = [this.spent(budget, value, nowMs), this.held(budget, value, nowMs)];
      return UNITS.map((unit) => {
        const limit = budget.limit[unit] === undefined ? Infinity : scaled(unit, budget.limit[unit]);
        if (spent[unit] + worst[unit] > limit) return "402";
        return spent[unit] + held[unit] + worst[unit] > limit ? "429" : "200";
      });
    });
    return verdicts.includes("402") ? "402" : verdicts.includes("429") ? "429" : "200";
  }
}

const ZERO: Amounts = { usd: 0, tokens: 0, requests: 0 };
const plus = (one: Amounts, other: Amounts): Amounts => ({
  usd: one.usd + other.usd,
  tokens: one.tokens + other.tokens,
  requests: one.requests + other.requests,
});
const scaled = (unit: keyof Amounts, amount: number): number =>
  unit === "usd" ? Math.round(amount * 1e6) : amount;
const scale = (amounts: Amounts): Amounts => ({ ...amounts, usd: Math.round(amounts.usd * 1e6) });

function valueOf({ scope, match }: ModelBudget, { user, model }: Pick<Call, "user" | "model">) {
  if (scope === "project") return null;
  const value = scope === "llm" ? model : user;
  return match === "*" || match === value ? value : undefined;
}

function isOf(budget: ModelBudget, value: string | null, call: Pick<Call, "user" | "model">): boolean {
  return valueOf(budget, call) === value;
}

function isIn({ isHourly }: ModelBudget, startedMs: number, atMs: number): boolean {
  return !isHourly || Math.floor(startedMs / HOUR_MS) === Math.floor(atMs / HOUR_MS);
}

/** One project with budgets, and what happens in it. */
class History {
  readonly model = new Model();
  readonly #project: string;
  readonly #random: SeededRandom;
  #count = 0;
  #worst = new Map<string, Amounts>();

  constructor(project: string, random: SeededRandom) {
    this.#project = project;
    this.#random = random;
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random.next() * items.length)]!;
  }

  #number(max: number): number {
    return Math.floor(this.#random.next() * max);
  }

  async begin(): Promise<void> {
    for (const model of MODELS) await this.price(model, 1);
    const scopes = ["project", "svc_user_id", "llm"] as const;
    for (let count = 1 + this.#number(3); count > 0; count--) {
      const scope = this.#pick(scopes);
      const values = scope === "llm" ? MODELS : USERS;
      const match = scope === "project" ? "*" : this.#pick(["*", ...values]);
      const isHourly = this.#random.next() < 0.5;
      const limit = this.#limit();
      const window = isHourly ? "hour" : null;
      const id = await setBudget(test, this.#project, { scope, match, limit, window });
      this.model.budgets.push({ id, scope, match, limit, isHourly });
    }
  }

  #limit(): ModelBudget["limit"] {
    return this.#pick([
      { usd: (this.#number(4000) + 1) / 1e6 },
      { tokens: this.#number(4000) },
      { requests: this.#number(6) },
      { usd: this.#number(4000) / 1e6, requests: this.#number(8) },
    ]);
  }

  async price(model: string, microdollars: number): Promise<void> {
    const token = microdollars / 1e6;
    const cost = { prompt_token_cost: token, completion_token_cost: token };
    const effective_date = new Date(Date.UTC(2000, 0, 1) + this.#count++ * 1000).toISOString();
    const costs = { [model]: { ...cost, effective_date } };
    expect((await test.post("/cost/create", { project_id: this.#project, costs })).status).toBe(200);
    this.model.prices.set(model, microdollars);
  }

  async step(): Promise<string> {
    const { open, calls, budgets } = this.model;
    switch (this.#number(10)) {
      case 0:
        nowMs += this.#pick([60_000, HOUR_MS]);
        return "time";
      case 1: {
        const [model, price] = [this.#pick(MODELS), 1 + this.#number(3)];
        await this.price(model, price);
        return `price ${model} ${price}`;
      }
      case 2:
        return this.#ingest();
      case 3: {
        if (calls.length === 0) return "nothing";
        const { id } = this.#pick(calls);
        const body = { project_id: this.#project, call_ids: [id] };
        expect((await test.post("/calls/delete", body)).status).toBe(200);
        this.model.calls = calls.filter((call) => call.id !== id);
        return `delete ${id}`;
      }
      case 4: {
        const budget = this.#pick(budgets);
        budget.limit = this.#limit();
        const body = { project_id: this.#project, id: budget.id, limit: budget.limit };
        expect((await test.post("/budget/update", body)).status).toBe(200);
        return `limit ${JSON.stringify(budget.limit)}`;
      }
      case 5:
      case 6:
        return open.length === 0 ? "nothing" : this.#finish(this.#pick(open));
      default:
        return this.#request();
    }
  }

  async #ingest(): Promise<string> {
    const [user, model, prompt] = [this.#pick(USERS), this.#pick(MODELS), this.#number(500)];
    const startedMs = nowMs - this.#pick([0, 0, HOUR_MS]);
    const id = `late-${this.#count++}`;
    const started_at = new Date(startedMs).toISOString();
    const usage = { [model]: { prompt_tokens: prompt, completion_tokens: 1, requests: 1 } };
    const call = {
      id,
      trace_id: `t-${id}`,
      op_name: "o",
      started_at,
      ended_at: started_at,
      summary: { usage },
    };
    const batch = [{ ...call, project_id: this.#project, wb_user_id: user, inputs: {}, attributes: {} }];
    const response = await test.post(`/v2/${this.#project}/calls/complete`, { batch });
    expect(response.status, response.text).toBe(200);
    this.model.calls.push({ id, user, model, startedMs, prompt, completion: 1 });
    return `ingest ${user} ${model} ${prompt}`;
  }

  /** What a request holds: what another project says is left of a limit that no request reaches. */
  async #worstOf(model: string, body: { readonly max_tokens: number }): Promise<Amounts> {
    const price = this.model.prices.get(model)!;
    const key = `${body.max_tokens}`;
    const known = this.#worst.get(key);
    if (known !== undefined) return { ...known, usd: known.tokens * price };
    const { name, response } = this.#send({ user: "ada", model, ...body }, `${this.#project}-measured`, {
      "x-sumtree-budget": "tokens=1000000000",
    });
    await until(() => waiting.has(name));
    waiting.get(name)!.destroy();
    const measured = (await response).headers.get("x-sumtree-budget-remaining")!;
    const tokens = 1_000_000_000 - Number(measured.slice("tokens=".length));
    const worst = { usd: tokens * price, tokens, requests: 1 };
    this.#worst.set(key, worst);
    return worst;
  }

  #send(
    body: { readonly user: string; readonly model: string; readonly max_tokens: number },
    project: string,
    headers: Record<string, string>,
  ) {
    const name =
      project === this.#project ? `${project} ${this.#count++}` : `${project} of ${body.max_tokens}`;
    const sent = { ...headers, "x-stainless-lang": name };
    return { name, response: sendChat(test.origin + "/v1", project, { ...body, headers: sent }) };
  }

  async #request(): Promise<string> {
    const [user, model] = [this.#pick(USERS), this.#pick(MODELS)];
    const max_tokens = this.#pick([100, 200, 400]);
    const worst = await this.#worstOf(model, { max_tokens });
    const expected = this.model.verdict({ user, model }, worst);
    const abort = new AbortController();
    const { name, response } = this.#send({ user, model, max_tokens }, this.#project, {});
    const settled = response.catch(() => undefined);
    let early: Response | undefined;
    void settled.then((one) => (early = one));
    await until(() => early !== undefined || waiting.has(name));
    if (early !== undefined) {
      const { error } = (await early.json()) as { error: Refusal };
      expect(`${early.status} ${error.code}`).toBe(
        expected === "402" ? "402 budget_exceeded" : `${expected} budget_held`,
      );
      return `refused ${user} ${model} ${max_tokens}: ${error.code}`;
    }
    expect("200").toBe(expected);
    const startedMs = nowMs;
    this.model.open.push({
      name,
      user,
      model,
      startedMs,
      worst,
      maxTokens: max_tokens,
      abort,
      response: settled,
    });
    return `request ${user} ${model} ${max_tokens}`;
  }

  async #finish(one: Open): Promise<string> {
    const upstream = waiting.get(one.name)!;
    // a count of 0 would be estimated
    const [prompt, completion] = [1 + this.#number(20), 1 + this.#number(one.maxTokens)];
    const isRefused = this.#random.next() < 0.2;
    if (isRefused) upstream.writeHead(500).end('{"error": {"message": "No."}}');
    else {
      const usage = { prompt_tokens: prompt, completion_tokens: completion };
      const message = { role: "assistant", content: "" };
      const choices = [{ index: 0, finish_reason: "stop", message }];
      const body = { id: `chatcmpl-${one.name}`, model: one.model, choices, usage };
      upstream.end(JSON.stringify({ ...body, usage: { ...usage, total_tokens: prompt + completion } }));
    }
    const response = await one.response;
    await response!.text();
    await nothingPending(test);
    this.model.open = this.model.open.filter((other) => other !== one);
    if (isRefused) return `failed ${one.name}`;
    const id = response!.headers.get("x-sumtree-call-id")!;
    const { user, model, startedMs } = one;
    this.model.calls.push({ id, user, model, startedMs, prompt, completion });
    return `finished ${one.name} ${prompt} ${completion}`;
  }

  async check(): Promise<void> {
    for (const shown of await budgetsOf(test, this.#project)) {
      const budget = this.model.budgets.find(({ id }) => id === shown.id)!;
      const of = (value: string | null) => ({
        spent: this.model.spent(budget, value, nowMs),
        held: this.model.held(budget, value, nowMs),
      });
      if (shown.values === undefined) {
        const value = budget.scope === "project" ? null : budget.match;
        expect({ spent: scale(shown.spent), held: scale(shown.held) }).toEqual(of(value));
        continue;
      }
      const values = budget.scope === "llm" ? MODELS : USERS;
      const used = values
        .map((value) => ({ value, ...of(value) }))
        .filter((one) => one.spent.requests + one.held.requests > 0);
      const found = shown.values.map((one) => ({ ...one, spent: scale(one.spent), held: scale(one.held) }));
      expect(found.map(({ value, spent, held }) => ({ value, spent, held })).toSorted(byValue)).toEqual(
        used.toSorted(byValue),
      );
    }
  }
}

const byValue = (one: { value: string }, other: { value: string }): number =>
  one.value < other.value ? -1 : 1;

describe("budgets and a model of them", () => {
  it.each(Array.from({ length: runs(1, 60) }, (_, index) => index))(
    "agree about each request, and what is spent and held: history %i",
    async (index) => {
      const random = seededRandom(chosenSeed() + index);
      nowMs = Date.UTC(2026, 10, 20, 12, 30);
      const history = new History(`acme/model-${index}`, random);
      await history.begin();
      const told: string[] = [];
      try {
        for (let step = 0; step < 25; step++) {
          told.push(await history.step());
          await history.check();
        }
      } catch (error) {
        throw new Error(`after ${JSON.stringify(told, null, 1)}`, { cause: error });
      } finally {
        for (const { name } of history.model.open) waiting.get(name)?.destroy();
      }
    },
  );
});
