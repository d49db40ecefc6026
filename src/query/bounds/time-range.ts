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
export const EVER: HourRange = { from: -1_000_000, to: 2_500_200 };

/** The hours that conditions joined by AND allow. No possible hour is left out. */
export function timeRangeOf(conjuncts: readonly Condition[]): TimeRange {
  return {
    started: rangeOf(columns.get("started_at")!, conjuncts),
    ended: rangeOf(columns.get("ended_at")!, conjuncts),
  };
}

/** Whether a condition only restricts when a call started or ended. */
export function saysWhen(condition: Condition): boolean {
  return ["started_at", "ended_at"].some(
    (name) => rangeOfCondition(columns.get(name)!, condition) !== undefined,
  );
}

/** The intersection. */
export function meet(one: HourRange | undefined, other: HourRange | undefined): HourRange | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { from: Math.max(one.from, other.from), to: Math.min(one.to, other.to) };
}

function rangeOf(column: Column, conjuncts: readonly Condition[]): HourRange | undefined {
  const ranges = conjuncts.flatMap((conjunct) => rangeOfCondition(column, conjunct) ?? []);
  if (ranges.length === 0) return undefined;
  return {
    from: Math.max(...ranges.map(({ from }) => from)),
    to: Math.min(...ranges.map(({ to }) => to)),
  };
}

function rangeOfCondition(column: Column, condition: Condition): HourRange | undefined {
  if (condition.kind === "or") {
    const ranges = condition.conditions.map((one) => rangeOfCondition(column, one));
    return ranges.length > 0 && ranges.every((range) => range !== undefined) ? hullOf(ranges) : undefined;
  }
  if (condition.kind === "and") return rangeOf(column, condition.conditions);
  if (condition.kind === "one_of") {
    if (condition.context !== "instant" || !isColumn(condition.value, column)) return undefined;
    const hours = condition.constants.map(hourOfValue);
    if (!hours.every((hour) => hour !== undefined)) return undefined;
    return { from: Math.min(...hours), to: Math.max(...hours) };
  }
  if (condition.kind !== "compare" || condition.context !== "instant") return undefined;
  const { operator, left, right } = condition;
  const isTurned = isColumn(right, column);
  const constant = isTurned ? left : isColumn(left, column) ? right : undefined;
  const hour = constant && hourOfValue(constant);
  if (hour === undefined) return undefined;
  if (operator === "$eq") return { from: hour, to: hour };
  const isLower = (operator === "$gt" || operator === "$gte") !== isTurned;
  if (isLower) return { from: hour, to: EVER.to };
  const isBefore = operator === "$lt" || operator === "$gt";
  return { from: EVER.from, to: isBefore && beginsHour(constant) ? hour - 1 : hour };
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

/** The hour of a constant instant. Numbers are seconds. */
function hourOfValue(value: Value): number | undefined {
  if (value.kind !== "constant" || typeof value.value !== "number") return undefined;
  const micros = value.type === "number" ? Math.round(value.value * 1_000_000) : value.value;
  const bounded = Math.min(Math.max(micros, EVER.from * HOUR_MICROS), EVER.to * HOUR_MICROS);
  return hourOf(bounded);
}
