import { COSTS, COUNTS, type LlmUsage, type UsageByLlm, type UsageEntry } from "../../format/usage.ts";

/** Usage entries, one per call and LLM, in tree order. */
export interface UsageColumns {
  /** End index of each call's entries. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly llms: readonly string[];
  /** The LLM of each entry. */
  readonly llmOf: Uint32Array<ArrayBuffer>;
  /** The counts and costs of each entry, as `FIGURES` names them, and whether the costs are lower bounds; NaN: not known. */
  readonly figures: Float64Array<ArrayBuffer>;
}

const FIGURES = [...COUNTS, ...COSTS] as const;
const SLOTS = FIGURES.length + 1;

/** `usage`: by call id. `ids`: as the tree has them. */
export function usageColumnsOf(
  usage: Readonly<Record<string, UsageByLlm>>,
  ids: readonly string[],
): UsageColumns {
  const llms = new Map<string, number>();
  const ends = new Uint32Array(ids.length);
  const [llmOf, figures]: [number[], number[]] = [[], []];
  for (const [position, id] of ids.entries()) {
    for (const [llm, one] of Object.entries(Object.hasOwn(usage, id) ? usage[id]! : {})) {
      const which = llms.get(llm) ?? llms.size;
      llms.set(llm, which);
      llmOf.push(which);
      for (const name of FIGURES) figures.push(one[name] ?? NaN);
      figures.push(one.partial === undefined ? NaN : Number(one.partial));
    }
    ends[position] = llmOf.length;
  }
  return {
    ends,
    llms: [...llms.keys()],
    llmOf: Uint32Array.from(llmOf),
    figures: Float64Array.from(figures),
  };
}

/** The entries of the calls from one position up to another. */
export function* entriesOf(
  columns: UsageColumns,
  from: number,
  to: number,
): Generator<UsageEntry, undefined> {
  const { ends, llms, llmOf } = columns;
  const last = to === 0 ? 0 : ends[to - 1]!;
  for (let entry = from === 0 ? 0 : ends[from - 1]!; entry < last; entry++)
    yield { llm: llms[llmOf[entry]!]!, usage: usageOfEntry(columns, entry) };
}

function usageOfEntry({ figures }: UsageColumns, entry: number): LlmUsage {
  const first = entry * SLOTS;
  const known = FIGURES.map((name, at) => {
    const figure = figures[first + at]!;
    return [name, Number.isNaN(figure) ? null : figure];
  });
  const flag = figures[first + FIGURES.length]!;
  const bound = Number.isNaN(flag) ? {} : { partial: flag === 1 };
  return { ...Object.fromEntries(known), ...bound } as LlmUsage;
}
