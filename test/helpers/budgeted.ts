import { expect } from "vitest";
import { nothingLeft } from "./recorded-calls.ts";
import { authorization, ROOT_KEY, type TestApp } from "./start-app.ts";

export interface Amounts {
  readonly usd: number;
  readonly tokens: number;
  readonly requests: number;
}

export interface ShownBudget {
  readonly id: string;
  readonly limit: Readonly<Record<keyof Amounts, number | null>>;
  readonly spent: Amounts;
  readonly held: Amounts;
  readonly resets_at: string | null;
  readonly unpriced_requests: number;
  readonly values?: readonly { readonly value: string; readonly spent: Amounts; readonly held: Amounts }[];
}

export const NOTHING: Amounts = { usd: 0, tokens: 0, requests: 0 };

export const UNITS = ["usd", "tokens", "requests"] as const;
export type Unit = (typeof UNITS)[number];
/** Far below the cost of a token, and above what a sum of doubles is wrong by. */
export const ROUNDING = 1e-12;

interface State {
  readonly value: string | null;
  readonly spent: Amounts;
  readonly held: Amounts;
}

/** The states of a budget: of each value, or its own. */
export function statesOf({ spent, held, values }: ShownBudget): readonly State[] {
  return values ?? [{ value: null, spent, held }];
}

/** What is above the limits of some budgets. */
export function overIn(budgets: readonly ShownBudget[]): object[] {
  return budgets.flatMap(({ limit, ...budget }) =>
    statesOf({ limit, ...budget }).flatMap((state) =>
      UNITS.filter((unit) => state.spent[unit] + state.held[unit] > (limit[unit] ?? Infinity) + ROUNDING).map(
        (unit) => ({ unit, limit: limit[unit], ...state }),
      ),
    ),
  );
}

/** Creates a budget of the project, unless its scope says otherwise; returns its id. */
export async function setBudget(
  test: Pick<TestApp, "post">,
  project_id: string,
  budget: object,
): Promise<string> {
  const response = await test.post("/budget/create", { project_id, scope: "project", ...budget });
  expect(response.status, response.text).toBe(200);
  return response.json().id as string;
}

export async function budgetsOf(test: Pick<TestApp, "post">, project_id: string): Promise<ShownBudget[]> {
  const response = await test.post("/budget/query", { project_id });
  expect(response.status, response.text).toBe(200);
  return response.json().budgets as ShownBudget[];
}

/** The only budget of a project, once nothing is open. */
export async function settledBudget(
  test: Pick<TestApp, "post" | "app">,
  project_id: string,
): Promise<ShownBudget> {
  await nothingLeft(test);
  const [budget, ...others] = await budgetsOf(test, project_id);
  expect(others).toEqual([]);
  expect(budget!.held).toEqual(NOTHING);
  return budget!;
}

/** What `/usage/stats` says of all time. */
export async function usedIn(
  test: Pick<TestApp, "post">,
  project_id: string,
  more: object = {},
): Promise<Amounts> {
  const asked = {
    project_id,
    start: "1970-01-01T00:00:00Z",
    end: "2200-01-01T00:00:00Z",
    include_costs: true,
    ...more,
  };
  const response = await test.post("/usage/stats", asked);
  expect(response.status, response.text).toBe(200);
  const { total_cost, total_tokens, requests } = response.json().total as Record<string, number>;
  return { usd: total_cost ?? 0, tokens: total_tokens!, requests: requests! };
}

export interface Refusal {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly budget?: string;
  readonly scope?: string;
  readonly spent?: Amounts;
  readonly held?: Amounts;
  readonly resets_at?: string | null;
}

export interface SentBody {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/** Sends a chat completion of at most 100 output tokens; `project` undefined: names none. */
export async function sendChat(
  baseUrl: string,
  project: string | undefined,
  { key = ROOT_KEY, headers = {}, ...body }: SentBody = {},
): Promise<Response> {
  return fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: {
      authorization: authorization(key, "bearer"),
      "content-type": "application/json",
      ...(project !== undefined && { "x-sumtree-project": project }),
      ...headers,
    },
    body: JSON.stringify({
      model: "gpt-4o",
      messages: [{ role: "user", content: "Hello" }],
      max_tokens: 100,
      ...body,
    }),
  });
}

/** Status and code of an exchange, which is read to its end. */
export async function outcomeOf(sent: Promise<Response>): Promise<string> {
  const response = await sent;
  const text = await response.text();
  return response.ok ? "200" : `${response.status} ${(JSON.parse(text) as { error: Refusal }).error.code}`;
}
