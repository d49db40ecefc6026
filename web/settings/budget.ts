import type { Budget } from "../api/routes.ts";
import { toPicodollar } from "../format/usage.ts";

/** Scopes, as people call them. */
export const SCOPES = {
  project: "project",
  api_key: "API key",
  svc_user_id: "user",
  thread_id: "thread",
  trace_id: "trace",
  llm: "model",
} as const satisfies Record<Budget["scope"], string>;

/** Windows of a limit; '': none. */
export const WINDOWS = { hour: "hour", day: "day", week: "week", month: "month", "": "for ever" } as const;
export const UNITS = ["usd", "tokens", "requests"] as const;
/** Matches each value of a scope, which has the limit for itself. */
export const EACH = "*";

/** Amounts of a budget, or of one of its values. */
type Used = Pick<Budget, "spent" | "held">;

/** One limit, and what is used of it. */
export interface Meter extends Readonly<Record<"limit" | "spent" | "held" | "left", number>> {
  readonly unit: (typeof UNITS)[number];
}

/** Names the subject of a budget: Project, Each user, User ana. */
export function subjectOf({ scope, match }: Pick<Budget, "scope" | "match">): string {
  const name = SCOPES[scope];
  if (scope !== "project" && match === EACH) return `Each ${name}`;
  const subject = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return scope === "project" ? subject : `${subject} ${match}`;
}

export function metersOf(limits: Budget["limit"], { spent, held }: Used): readonly Meter[] {
  return UNITS.flatMap((unit) => {
    const limit = limits[unit];
    if (limit == null) return [];
    const left = toPicodollar(Math.max(0, limit - spent[unit] - held[unit]));
    return [{ unit, limit, spent: spent[unit], held: held[unit], left }];
  });
}

/** Orders values by the part that is left of their nearest limit. */
export function fullestFirst<Value extends Used>(values: readonly Value[], limits: Budget["limit"]) {
  const partLeft = (value: Value): number =>
    Math.min(...metersOf(limits, value).map(({ limit, left }) => (limit === 0 ? 0 : left / limit)));
  return values.toSorted((one, other) => partLeft(one) - partLeft(other));
}

/** A budget, or what a new one begins with. */
export type Draft = Partial<Budget> & Pick<Budget, "scope" | "match" | "window" | "timezone">;

/** A new budget as an address proposes it. */
export function draftOf(options: Readonly<Record<string, string>>, timezone: string): Draft {
  const { scope = "", match = EACH } = options;
  const known = Object.hasOwn(SCOPES, scope) ? (scope as Budget["scope"]) : "project";
  return { scope: known, match, window: "month", timezone };
}

/** Reads the inputs of the form, which has checked them. */
export function readLimits(fields: Readonly<Record<string, string>>) {
  const { window = "", timezone, alerts = "", refuse } = fields;
  const limit = UNITS.map((unit) => {
    // a comma separates decimals too
    const typed = fields[unit]?.trim().replace(",", ".") ?? "";
    return [unit, typed === "" ? null : Number(typed)] as const;
  });
  return {
    limit: Object.fromEntries(limit),
    window: window || null,
    timezone,
    on_unknown_price: refuse === undefined ? "count_only" : "refuse",
    alerts: readPercents(alerts),
  };
}

/** Percents, such as `50, 80 100 %`, as fractions. */
function readPercents(text: string): readonly number[] {
  const percents = text.split(/[\s,%]+/).filter(Boolean);
  return percents.map((percent) => Number((Number(percent) / 100).toPrecision(12)));
}

export function printPercents(fractions: readonly number[]): string {
  return fractions.map((one) => Number((one * 100).toPrecision(12))).join(", ");
}
