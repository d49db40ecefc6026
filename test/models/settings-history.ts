import type { Replica } from "./call-model/replica.ts";

/** Acknowledged settings, feedback and calls of a project; all calls are older than a year. */
interface Acknowledged {
  days: number | null;
  /** In the order in which they were set. No two cost the same, so that one that was sent again is known. */
  prices: { readonly llm: string; readonly cost: number }[];
  feedback: Map<string, number>;
  calls: Set<string>;
  /** Deleted calls, which stay so until the project is deleted. */
  deleted: Set<string>;
}

/** Whoever serves the project. Their clocks may differ. */
interface Served {
  readonly project: string;
  readonly replicas: readonly Replica[];
  /** At least 0, less than 1. */
  readonly random: () => number;
}

const LLMS = ["one", "two"] as const;
const DATE = "2020-01-01T00:00:00Z";
const CALLS = ["a", "b", "c", "d", "e", "f", "g", "h"];
const CALLED_AT = "2024-05-05T05:05:05Z";
/** Retention that deletes all calls of the model. */
const SHORT_DAYS = 30;
const nothing = (): Acknowledged => ({
  days: null,
  prices: [],
  feedback: new Map(),
  calls: new Set(),
  deleted: new Set(),
});

/** A random history of one project, an action at a time. Errors: an answer that is not as what was acknowledged has it. */
export class SettingsHistory {
  readonly #served: Served;
  #own = nothing();
  #count = 0;
  /** With how often each is done. */
  readonly #actions: readonly (readonly [number, () => Promise<void>])[] = [
    [2, () => this.#setDays()],
    [3, () => this.#setPrice()],
    [1, () => this.#purgePrice()],
    [2, () => this.#say()],
    [1, () => this.#replace()],
    [1, () => this.#purge()],
    [2, () => this.#call()],
    [1, () => this.#deleteCall()],
    [2, () => this.#deleteProject()],
  ];

  constructor(served: Served) {
    this.#served = served;
  }

  /** Changes something, and reads everything. */
  async act(): Promise<void> {
    let drawn = this.#served.random() * this.#actions.reduce((sum, [weight]) => sum + weight, 0);
    const [, change] = this.#actions.find(([weight]) => (drawn -= weight) < 0)!;
    await change();
    await this.check();
  }

  /** Follows the deletion of what is older than the project keeps. */
  expire(): void {
    if (this.#own.days === SHORT_DAYS) this.#own.calls.clear();
  }

  async check(): Promise<void> {
    const own = this.#own;
    await Promise.all([
      this.#expect("retention", `/projects/${this.#served.project}/retention`, (said) => said.days, own.days),
      this.#expect(
        "prices",
        "/cost/query",
        (said) => distinct(said.results!.map((price) => price.prompt_token_cost!)),
        distinct(own.prices.map(({ cost }) => cost)),
      ),
      this.#expect(
        "feedback",
        "/feedback/query",
        (said) => said.result!.map(({ id, payload }) => `${id} ${payload.n}`).toSorted(),
        [...own.feedback].map(([id, n]) => `${id} ${n}`).toSorted(),
      ),
      this.#expect(
        "calls and what they cost",
        "/trace/usage",
        (said) => Object.entries(said.call_usage!).map(toText).toSorted(),
        [...own.calls].map((id) => `${id} ${llmOf(id)} ${this.#costOf(llmOf(id))}`).toSorted(),
      ),
    ]);
  }

  async #setDays(): Promise<void> {
    const days = this.#one([null, SHORT_DAYS, SHORT_DAYS, 10_000 + ++this.#count])!;
    await this.#send(`/projects/${this.#served.project}/retention`, { days }, "PUT");
    this.#own.days = days;
  }
  async #setPrice(): Promise<void> {
    const [llm, cost] = [this.#one(LLMS)!, ++this.#count];
    const price = { prompt_token_cost: cost, completion_token_cost: 0, effective_date: DATE };
    await this.#send("/cost/create", { costs: { [llm]: price } });
    this.#own.prices.push({ llm, cost });
  }
  async #purgePrice(): Promise<void> {
    const price = this.#one(this.#own.prices);
    if (price === undefined) return;
    const { results } = await this.#send("/cost/query");
    const ids = results!
      .filter(({ prompt_token_cost }) => prompt_token_cost === price.cost)
      .map(({ id }) => id);
    for (const id of ids) await this.#send("/cost/purge", { query: isId(id) });
    this.#own.prices = this.#own.prices.filter((one) => one !== price);
  }
  async #say(): Promise<void> {
    const [id, n] = [this.#feedbackId(), ++this.#count];
    await this.#send("/feedback/create", { id, ...this.#feedback(n) });
    this.#own.feedback.set(id, n);
  }
  async #replace(): Promise<void> {
    const [before, id, n] = [this.#feedbackId(), this.#feedbackId(), ++this.#count];
    await this.#send("/feedback/replace", { feedback_id: before, id, ...this.#feedback(n) });
    this.#own.feedback.delete(before);
    this.#own.feedback.set(id, n);
  }
  async #purge(): Promise<void> {
    const id = this.#one([...this.#own.feedback.keys()]);
    if (id === undefined) return;
    await this.#send("/feedback/purge", { query: isId(id) });
    this.#own.feedback.delete(id);
  }
  async #call(): Promise<void> {
    const { project } = this.#served;
    const ids = CALLS.filter((id) => !this.#own.deleted.has(id) && this.#served.random() < 0.3);
    if (ids.length === 0) return;
    const batch = ids.map((id) => ({
      project_id: project,
      id,
      trace_id: `trace of ${id}`,
      op_name: "op",
      started_at: CALLED_AT,
      ended_at: CALLED_AT,
      summary: { usage: { [llmOf(id)]: { requests: 1, prompt_tokens: 1 } } },
    }));
    await this.#send(`/v2/${project}/calls/complete`, { batch });
    for (const id of ids) this.#own.calls.add(id);
  }
  async #deleteCall(): Promise<void> {
    const id = this.#one([...this.#own.calls]);
    if (id === undefined) return;
    await this.#send("/calls/delete", { call_ids: [id] });
    this.#own.calls.delete(id);
    this.#own.deleted.add(id);
  }
  async #deleteProject(): Promise<void> {
    await this.#send(`/projects/${this.#served.project}`, {}, "DELETE");
    this.#own = nothing();
  }

  #costOf(llm: string): number | null {
    return this.#own.prices.findLast((price) => price.llm === llm)?.cost ?? null;
  }
  #feedbackId(): string {
    return `0190a000-0000-7000-8000-00000000000${this.#one([0, 1, 2, 3, 4])}`;
  }
  #feedback(n: number): object {
    const weave_ref = `weave:///${this.#served.project}/call/any`;
    return { weave_ref, feedback_type: "custom", payload: { n } };
  }
  #one<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#served.random() * items.length)];
  }

  async #send(url: string, body: object = {}, method: Method = "POST"): Promise<Said> {
    const { project, replicas } = this.#served;
    const asked =
      method === "POST" ? { body: { project_id: project, ...body } } : method === "PUT" ? { body } : {};
    const { status, bytes } = await this.#one(replicas)!({ method, url, ...asked });
    if (![200, 202].includes(status))
      throw new Error(`${url} ${JSON.stringify(body)}: ${status} ${String(bytes)}`);
    return JSON.parse(bytes.toString()) as Said;
  }

  /** Reads a value and compares it with the expected one. */
  async #expect(what: string, url: string, read: (said: Said) => unknown, wanted: unknown): Promise<void> {
    const said =
      what === "retention"
        ? await this.#send(url, {}, "GET")
        : await this.#send(url, url === "/trace/usage" ? { include_costs: true } : {});
    const [got, expected] = [JSON.stringify(read(said)), JSON.stringify(wanted)];
    if (got !== expected)
      throw new Error(`${this.#served.project}: ${what}\n  expected ${expected}\n  got      ${got}`);
  }
}

type Method = "GET" | "POST" | "PUT" | "DELETE";
interface Costs {
  readonly prompt_tokens_total_cost?: number | null;
}
interface Said {
  readonly days?: number | null;
  readonly results?: readonly {
    readonly id: string;
    readonly prompt_token_cost?: number;
  }[];
  readonly result?: readonly { readonly id: string; readonly payload: { readonly n: number } }[];
  readonly call_usage?: Readonly<Record<string, Readonly<Record<string, Costs>>>>;
}

function toText([id, usage]: readonly [string, Readonly<Record<string, Costs>>]): string {
  const costs = Object.entries(usage).map(([llm, own]) => `${llm} ${own.prompt_tokens_total_cost ?? null}`);
  return `${id} ${costs.join()}`;
}

function llmOf(id: string): string {
  return id < "e" ? LLMS[0] : LLMS[1];
}

function distinct(numbers: readonly number[]): readonly number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}

function isId(id: string): object {
  return { $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } };
}
