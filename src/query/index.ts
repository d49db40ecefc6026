export { compileQuery, type CompiledQuery, type RefusedQuery } from "./compile.ts";
export { compileFilter } from "./filter.ts";
export { selectCalls, type CallSelection } from "./select-calls.ts";
export { tracesOf } from "./traces-of.ts";
export {
  callsFilter,
  callsQuery,
  defaultSelectionLimits,
  type CallsFilter,
  type SelectionLimits,
} from "./wire-schema.ts";
