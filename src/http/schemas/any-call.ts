import { callsFilter, callsQuery, oncePerLimits } from "../../query/index.ts";
import { knownMembers } from "./known-names.ts";

export const anyCall = oncePerLimits((limits) =>
  knownMembers({
    filter: callsFilter(limits).nullish(),
    query: callsQuery(limits).nullish(),
  }).meta({
    id: "AnyCall",
    description: "True of a trace if one of its calls, whenever it started, matches filter and query",
  }),
);
