import { callsFilter, callsQuery } from "../../query/read/wire-schema.ts";
import { knownMembers } from "./known-names.ts";

export const anyCall = knownMembers({ filter: callsFilter.nullish(), query: callsQuery.nullish() }).meta({
  id: "AnyCall",
  description: "True of a trace if one of its calls, whenever it started, matches filter and query",
});
