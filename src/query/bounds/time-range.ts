import { HOUR_MICROS, hourOf } from "../../shared/instant.ts";
import { type Column, columns } from "../fields/columns.ts";
import type { Condition, Value } from "../read/typed.ts";

/** Hours since the epoch, both included. */
export interface HourRange {
  readonly from: number;
  readonly to: number;
}

/** The hours in which the selected calls began and ended, as far as a condition restricts them. */
export interface TimeRange {
  readonly started: HourRange | undefined;
  readonly ended: HourRange | undefined;
}

/** All hours that the store supports. */
export const ALL_HOURS: HourRange = { from: -1_000_000, to: 2_500_200 };

/** The hours that conditions joined by AND allow. No possible hour is left out. */
export function timeRangeOf(conjuncts: readonly Condition[]): TimeRange {
  return {
    started: rangeOf(columns.get("started_at")!, conjuncts),
    ended: rangeOf(columns.get("ended_at")!, conjuncts),
  };
}

/** Whether a condition only restricts when a call started or ended. */
export function isTimeOnly(condition: Condition): boolean {
  return ["started_at", "ended_at"].some(
    (name) => rangeOfCondition(columns.get(name)!, condition) !== undefined,
  );
}

/** The intersection. */
export function intersect(one: HourRange | undefined, other: HourRange | undefined): HourRange | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { from: Math.max(one.from, other.from), to: Math.min(one.to, other.to) };
}

/** Hour range implied by the conditions, negated if `isDenied`. */
function rangeOf(
  column: Column,
  conditions: readonly Condition[],
  { isAny = false, isDenied = false }: { readonly isAny?: boolean; readonly isDenied?: boolean } = {},
): HourRange | undefined {
  const ranges = conditions.map((one) => rangeOfCondition(column, one, isDenied));
  const known = ranges.filter((range) => range !== undefined);
  if (known.length === 0 || (isAny && known.length < ranges.length)) return undefined;
  return isAny ? hullOf(known) : known.reduce((one, other) => intersect(one, other)!);
}

/** `isDenied`: of the calls for which it is false. Those for which it is unknown are selected neither way. */
function rangeOfCondition(column: Column, condition: Condition, isDenied = false): HourRange | undefined {
  const { kind } = condition;
  if (kind === "not") return rangeOfCondition(column, condition.condition, !isDenied);
  if (kind === "and" || kind === "or") {
    return rangeOf(column, condition.conditions, { isAny: (kind === "or") !== isDenied, isDenied });
  }
  if (kind === "compare") return rangeOfComparison(column, condition, isDenied);
  return kind === "one_of" && !isDenied ? rangeOfList(column, condition) : undefined;
}

type Of<Kind extends Condition["kind"]> = Extract<Condition, { kind: Kind }>;

function rangeOfList(column: Column, { context, value, constants }: Of<"one_of">): HourRange | undefined {
  if (context !== "instant" || !isColumn(value, column)) return undefined;
  const hours = constants.map(hourOfValue);
  if (!hours.every((hour) => hour !== undefined)) return undefined;
  return { from: Math.min(...hours), to: Math.max(...hours) };
}

const opposite = { $gt: "$lte", $gte: "$lt", $lt: "$gte", $lte: "$gt", $eq: undefined } as const;

function rangeOfComparison(
  column: Column,
  { context, operator: given, left, right }: Of<"compare">,
  isDenied: boolean,
): HourRange | undefined {
  const operator = isDenied ? opposite[given] : given;
  if (context !== "instant" || operator === undefined) return undefined;
  const isTurned = isColumn(right, column);
  const constant = isTurned ? left : isColumn(left, column) ? right : undefined;
  const hour = constant && hourOfValue(constant);
  if (hour === undefined) return undefined;
  if (operator === "$eq") return { from: hour, to: hour };
  const isLower = (operator === "$gt" || operator === "$gte") !== isTurned;
  if (isLower) return { from: hour, to: ALL_HOURS.to };
  const isBefore = operator === "$lt" || operator === "$gt";
  return { from: ALL_HOURS.from, to: isBefore && beginsHour(constant) ? hour - 1 : hour };
}

/** Whether a constant is the first instant of its hour: what is before it is in earlier hours. */
function beginsHour(value: Value | undefined): boolean {
  return value?.kind === "constant" && value.type === "instant" && value.value % HOUR_MICROS === 0;
}

function hullOf(ranges: readonly HourRange[]): HourRange {
  return { from: Math.min(...ranges.map(({ from }) => from)), to: Math.max(...ranges.map(({ to }) => to)) };
}

function isColumn(value: Value, column: Column): boolean {
  return value.kind === "column" && value.column === column;
}

/** The hour of a constant instant. */
function hourOfValue(value: Value): number | undefined {
  if (value.kind !== "constant" || value.type !== "instant") return undefined;
  return hourOf(Math.min(Math.max(value.value, ALL_HOURS.from * HOUR_MICROS), ALL_HOURS.to * HOUR_MICROS));
}
