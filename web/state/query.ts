import {
  isSum,
  operandOfCalls,
  printCondition,
  readSearch,
  type Search,
  type SearchFault,
} from "./search.ts";

/** Query of a search box. */
export interface AskedFor {
  /** An operand of `$expr` over calls; undefined: there is no condition. */
  readonly operand: unknown;
  /** Undefined: it was written as JSON. */
  readonly search: Search | undefined;
  /** Nothing is asked while there is one. */
  readonly faults: readonly SearchFault[];
}

/** Reads a search, or an operand in JSON. Usage is not selected by sums of traces, nor that of calls by roots. */
export function readQuery(text: string, of: "calls" | "traces" | "usage of traces"): AskedFor {
  if (text.trimStart().startsWith("{")) return readJson(text);
  const { search, faults } = readSearch(text);
  const refused = search.conditions.flatMap((one) => {
    const msg =
      of !== "traces" && isSum(one)
        ? "Usage cannot be limited by it: search for traces with it."
        : of === "calls" && one.ofRoot === true
          ? "It is of roots, and these are calls: group by operation, user or version, or leave out root."
          : undefined;
    return msg === undefined ? [] : [{ part: printCondition(one), msg }];
  });
  return { operand: operandOfCalls(search), search, faults: [...faults, ...refused] };
}

function readJson(text: string): AskedFor {
  try {
    const query = JSON.parse(text) as { $expr?: unknown };
    return { operand: query.$expr ?? query, search: undefined, faults: [] };
  } catch (error) {
    return {
      operand: undefined,
      search: undefined,
      faults: [{ part: text.slice(0, 40), msg: `This is not JSON: ${(error as Error).message}` }],
    };
  }
}
