import type { Project } from "../shared/project.ts";

/** Dimensions of a project's usage that a budget can be for; `project`: all of it. */
export const SCOPES = ["project", "api_key", "svc_user_id", "thread_id", "trace_id", "llm"] as const;
export type Scope = (typeof SCOPES)[number];

/** Matches every value of a scope, each of which has the limit for itself. */
export const EACH = "*";

/** Units of a limit. `usd` in attodollars (10^-18 USD). */
export interface Amounts {
  readonly usd: bigint;
  readonly tokens: number;
  readonly requests: number;
}

export type Unit = keyof Amounts;
export const UNITS = ["usd", "tokens", "requests"] as const satisfies readonly Unit[];

export const NOTHING: Amounts = { usd: 0n, tokens: 0, requests: 0 };

export function isNothing({ usd, tokens, requests }: Amounts): boolean {
  return usd === 0n && tokens === 0 && requests === 0;
}

export function plus(one: Amounts, other: Amounts): Amounts {
  return {
    usd: one.usd + other.usd,
    tokens: one.tokens + other.tokens,
    requests: one.requests + other.requests,
  };
}

export function minus(one: Amounts, other: Amounts): Amounts {
  return {
    usd: one.usd - other.usd,
    tokens: one.tokens - other.tokens,
    requests: one.requests - other.requests,
  };
}

/** Null: no limit. */
export type Limit = { readonly [One in Unit]: Amounts[One] | null };

export interface Budget {
  readonly id: string;
  readonly project: Project;
  readonly name: string | null;
  readonly scope: Scope;
  /** A value of the scope, or `EACH`; of scope `project` always `EACH`, for the one project. */
  readonly match: string;
  readonly limit: Limit;
  /** Local time that a limit is for; null: for ever. */
  readonly window: Window | null;
  readonly timezone: string;
  readonly onUnknownPrice: "refuse" | "count_only";
  /** Fractions of a limit, ascending. */
  readonly alerts: readonly number[];
}

export const WINDOWS = ["hour", "day", "week", "month"] as const;
export type Window = (typeof WINDOWS)[number];

/** Amounts of each unit; counts must be safe integers. */
export function amountsBy(of: (unit: Unit) => bigint): Amounts {
  return { usd: of("usd"), tokens: Number(of("tokens")), requests: Number(of("requests")) };
}
