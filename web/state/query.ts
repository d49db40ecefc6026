import { operandOfCalls, readSearch, type Search, type SearchFault } from "./search.ts";

/** Query of a search box. */
export interface AskedFor {
  /** An operand of `$expr` over calls; undefined: there is no condition. */
  readonly operand: unknown;
  /** Undefined: it was written as JSON. */
  readonly search: Search | undefined;
  /** Nothing is asked while there is one. */
  readonly faults: readonly SearchFault[];
}

/** Reads a search, or an operand in JSON. */
export function readQuery(text: string): AskedFor {
  if (text.trimStart().startsWith("{")) return readJson(text);
  const { search, faults } = readSearch(text);
  return { operand: operandOfCalls(search), search, faults };
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
