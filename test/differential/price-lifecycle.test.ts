import * as fc from "fast-check";
import { Query } from "mingo";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import {
  authorization,
  startAppOn,
  startEngine,
  type TestResponse,
  type TestApp,
  type TestEngine,
} from "../helpers/start-app.ts";
import { toMongo } from "../models/to-mongo.ts";

/** Random histories per run. */
const RUNS = runs(3, 60);
const SEED = chosenSeed();

/** LLMs that no list of prices has. */
const LLMS = ["m", "m\nx", "constructor", "toString", "ünï 🙂", "'; --"] as const;
const DATES = ["1970-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.001Z"] as const;
const CALLED_AT = [
  "2025-12-31T23:59:59.999Z",
  "2026-01-01T00:00:00.000Z",
  "2026-03-01T00:00:00.000Z",
] as const;
const TOKENS = { prompt_tokens: 3, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 2 } };

/** Costs in USD per token, exact in picodollars. */
const cost = fc.constantFrom(0, 0.000_002_5, 0.5, 2, 1_000_000);
const price = fc.record(
  {
    prompt_token_cost: cost,
    completion_token_cost: cost,
    cache_read_input_token_cost: cost,
    effective_date: fc.constantFrom(...DATES),
    provider_id: fc.constantFrom("default", "ours"),
  },
  { requiredKeys: ["prompt_token_cost", "completion_token_cost", "effective_date"] },
);
type Price = typeof price extends fc.Arbitrary<infer Value> ? Value : never;
interface Kept extends Price {
  readonly id: string;
  readonly llm_id: string;
}

const ofTwo = fc.constantFrom(0 as const, 1 as const);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant("create" as const),
      replica: ofTwo,
      costs: fc.dictionary(fc.constantFrom(...LLMS, "__proto__"), price, {
        minKeys: 1,
        maxKeys: 3,
        noNullPrototype: true,
      }),
      isBroken: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant("purge" as const),
      replica: ofTwo,
      picks: fc.array(fc.nat(20), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("restart" as const), replica: ofTwo }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("delete project" as const), replica: ofTwo }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const field = (name: string) => ({ $getField: name });
const literal = (value: unknown) => ({ $literal: value });
const text = fc.oneof(
  fc.tuple(fc.constant("llm_id"), fc.constantFrom(...LLMS, "__proto__")),
  fc.tuple(fc.constant("provider_id"), fc.constantFrom("default", "ours", "")),
);
const { operation } = fc.letrec<{ operation: object }>((tie) => ({
  operation: fc.oneof(
    { depthSize: "small" },
    text.map(([name, value]) => ({ $eq: [field(name), literal(value)] })),
    fc
      .tuple(fc.constant("llm_id"), fc.array(fc.constantFrom(...LLMS), { maxLength: 3 }))
      .map(([name, values]) => ({ $in: [field(name), values.map(literal)] })),
    fc
      .tuple(
        fc.constantFrom("$eq", "$gt", "$lt", "$gte", "$lte"),
        fc.constantFrom("prompt_token_cost", "completion_token_cost"),
        cost,
      )
      .map(([name, of, value]) => ({ [name]: [field(of), literal(value)] })),
    fc
      .tuple(fc.constantFrom("$and", "$or"), fc.array(tie("operation"), { minLength: 1, maxLength: 3 }))
      .map(([name, list]) => ({ [name]: list })),
    tie("operation").map((inner) => ({ $not: [inner] })),
  ),
}));

/** A price that says nothing of cached tokens, and goes again. */
const SURE: readonly (readonly [Step, object, 0 | 1])[] = [
  [
    {
      what: "create",
      replica: 0,
      costs: { m: { prompt_token_cost: 2, completion_token_cost: 0.5, effective_date: DATES[0] } },
      isBroken: false,
    },
    { $eq: [field("llm_id"), literal("m")] },
    1,
  ],
  [{ what: "purge", replica: 1, picks: [0] }, { $eq: [field("llm_id"), literal("m")] }, 0],
];

let store: TestEngine;
let replicas: [TestApp, TestApp];

/** The clock of the second is an hour behind. */
const startReplica = (replica: 0 | 1) =>
  startAppOn(store.engine, {
    deps: { clock: { now: () => Date.now() - replica * 3_600_000 } },
    settings: { RATE_LIMIT_PER_MINUTE: "1000000000" },
  });

beforeAll(async () => {
  store = await startEngine();
  replicas = [await startReplica(0), await startReplica(1)];
});
afterAll(async () => {
  for (const one of replicas) await one.close();
  await store.close();
});

/** The prices of a project as the contract has them, in the order in which they were set. */
class Project {
  readonly name: string;
  kept: Kept[] = [];

  constructor(name: string) {
    this.name = name;
  }

  /** Returns the price of a call: the latest effective date that is not after it, and of equal dates the one set last. */
  priceOf(llm: string, calledAt: string): Kept | undefined {
    return this.kept
      .filter((one) => one.llm_id === llm && one.effective_date <= calledAt)
      .toSorted((a, b) =>
        a.effective_date < b.effective_date ? -1 : Number(a.effective_date > b.effective_date),
      )
      .at(-1);
  }

  /** A call of each LLM at each time. */
  async sendCalls(): Promise<void> {
    const batch = CALLED_AT.flatMap((at, when) =>
      LLMS.map((llm, which) => ({
        project_id: this.name,
        id: `c${which}.${when}`,
        trace_id: "t",
        op_name: "op",
        started_at: at,
        ended_at: at,
        inputs: {},
        attributes: {},
        output: null,
        summary: { usage: { [llm]: TOKENS } },
      })),
    );
    expectOk(await replicas[0].post(`/v2/${this.name}/calls/complete`, { batch }));
  }

  async take(taken: Step): Promise<void> {
    const replica = replicas[taken.replica];
    switch (taken.what) {
      case "create": {
        const costs = taken.isBroken ? { ...taken.costs, broken: { prompt_token_cost: -1 } } : taken.costs;
        const isRefused = taken.isBroken || Object.hasOwn(costs, "__proto__");
        const answer = await replica.post("/cost/create", { project_id: this.name, costs });
        expect(answer.status, answer.text).toBe(isRefused ? 422 : 200);
        if (isRefused) return;
        const { ids } = answer.json() as { ids: [string, string][] };
        expect(ids.map(([, llm]) => llm)).toEqual(Object.keys(costs));
        this.kept.push(...ids.map(([id, llm]) => ({ id, llm_id: llm, ...taken.costs[llm]! })));
        return;
      }
      case "purge": {
        const ids = taken.picks.flatMap(
          (pick) => this.kept.at(pick % Math.max(1, this.kept.length))?.id ?? [],
        );
        const query = { $expr: { $in: [field("id"), ids.map(literal)] } };
        expectOk(await replica.post("/cost/purge", { project_id: this.name, query }));
        this.kept = this.kept.filter(({ id }) => !ids.includes(id));
        return;
      }
      case "restart": {
        await replicas[taken.replica].close();
        replicas[taken.replica] = await startReplica(taken.replica);
        return;
      }
      case "delete project": {
        const headers = { authorization: authorization() };
        const answer = await replica.app.inject({ method: "DELETE", url: `/projects/${this.name}`, headers });
        expect(answer.statusCode).toBe(202);
        this.kept = [];
        await this.sendCalls();
      }
    }
  }

  async checkList(expression: object, replica: TestApp): Promise<void> {
    const fields = [
      "id",
      "llm_id",
      "prompt_token_cost",
      "completion_token_cost",
      "cache_read_input_token_cost",
      "effective_date",
      "provider_id",
    ];
    const query = { $expr: expression };
    const answer = await replica.post("/cost/query", { project_id: this.name, query, fields });
    expectOk(answer);
    const mongo = new Query(toMongo(query) as object);
    const unset = { provider_id: "default", cache_read_input_token_cost: null };
    const all = this.kept.map((one) => ({ ...unset, ...one }));
    const byId = (rows: readonly { readonly id: string }[]) =>
      rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const { results } = answer.json() as { results: Kept[] };
    expect(byId(results), JSON.stringify(query)).toEqual(byId(all.filter((one) => mongo.test(one))));
  }

  async checkCosts(replica: TestApp): Promise<void> {
    const answer = await replica.post("/trace/usage", { project_id: this.name, include_costs: true });
    expectOk(answer);
    const { call_usage } = answer.json() as {
      call_usage: Record<string, Record<string, Record<string, unknown>>>;
    };
    for (const [which, llm] of LLMS.entries())
      for (const [when, at] of CALLED_AT.entries()) {
        const inForce = this.priceOf(llm, at);
        expect(call_usage[`c${which}.${when}`]![llm], `${llm} at ${at}`).toMatchObject({
          prompt_tokens_total_cost: usd(1, inForce?.prompt_token_cost),
          // without a price of their own cached tokens cost what others do
          cache_read_input_tokens_total_cost: usd(
            2,
            inForce?.cache_read_input_token_cost ?? inForce?.prompt_token_cost,
          ),
          completion_tokens_total_cost: usd(TOKENS.completion_tokens, inForce?.completion_token_cost),
        });
      }
  }
}

/** To the picodollar. */
function usd(tokens: number, perToken: number | undefined): number | null {
  return perToken === undefined ? null : Math.round(tokens * perToken * 1e12) / 1e12;
}

function expectOk({ status, text: said }: TestResponse): void {
  expect(status, said).toBe(200);
}

describe(`a project's prices (SEED=${SEED})`, () => {
  it(
    `are listed and charged as in a model after each step of ${RUNS} random histories`,
    { timeout: 3_600_000 },
    async () => {
      let runs = 0;
      const history = fc.array(fc.tuple(step, operation, ofTwo), {
        minLength: 1,
        maxLength: 8,
        size: "max",
      });
      const property = fc.asyncProperty(history, async (steps) => {
        const project = new Project(`acme/prices-${runs++}`);
        await project.sendCalls();
        for (const [taken, expression, read] of steps) {
          await project.take(taken);
          await project.checkList(expression, replicas[read]);
          await project.checkCosts(replicas[read]);
        }
      });
      await fc.assert(property, { numRuns: RUNS, seed: SEED, examples: [[[...SURE]]] });
    },
  );
});
