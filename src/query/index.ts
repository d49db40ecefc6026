export type { HourRange } from "./bounds/time-range.ts";
export { compileQuery, type CompiledQuery } from "./compile.ts";
export { feedbackFields, priceFields } from "./fields/fields.ts";
export { compileFilter } from "./filter.ts";
export { compileGroupKey } from "./group-key.ts";
export { selectCalls, type SelectOptions } from "./select-calls.ts";
export { compileSort, type SortKey } from "./sort.ts";
export { IS_ROOT, IS_VISIBLE, MAY_BE_ROOT } from "./fields/columns.ts";
export { keyRangeOf, tracesOfRange, type CallsSelection } from "./key-range.ts";
export { hasNonTimeConditions, whereSelected } from "./narrow.ts";
export { inTraceHours, inTraces, inTracesOfHours } from "./trace-hours.ts";
export {
  callsFilter,
  sdkFilter,
  callsQuery,
  feedbackQuery,
  priceQuery,
  type CallsFilter,
} from "./read/wire-schema.ts";
