import { costOf, type Total, type UsageByLlm } from "../../format/usage.ts";

/** Usage entries, one per call and LLM, in tree order. */
export interface UsageColumns {
  /** End index of each call's entries. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly llms: readonly string[];
  /** The LLM of each entry. */
  readonly llmOf: Uint32Array<ArrayBuffer>;
  readonly tokens: Float64Array<ArrayBuffer>;
  /** NaN: no price is known. */
  readonly usd: Float64Array<ArrayBuffer>;
  /** 1: the cost is a lower bound. */
  readonly partial: Uint8Array<ArrayBuffer>;
}

/** `usage`: by call id. `ids`: as the tree has them. */
export function usageColumnsOf(
  usage: Readonly<Record<string, UsageByLlm>>,
  ids: readonly string[],
): UsageColumns {
  const llms = new Map<string, number>();
  const ends = new Uint32Array(ids.length);
  const [llmOf, tokens, usd, partial]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (const [position, id] of ids.entries()) {
    for (const [llm, one] of Object.entries(Object.hasOwn(usage, id) ? usage[id]! : {})) {
      const which = llms.get(llm) ?? llms.size;
      llms.set(llm, which);
      llmOf.push(which);
      tokens.push(one.total_tokens);
      usd.push(costOf(one) ?? NaN);
      partial.push(Number(one.partial === true));
    }
    ends[position] = llmOf.length;
  }
  return {
    ends,
    llms: [...llms.keys()],
    llmOf: Uint32Array.from(llmOf),
    tokens: Float64Array.from(tokens),
    usd: Float64Array.from(usd),
    partial: Uint8Array.from(partial),
  };
}

interface UsageEntry extends Total {
  readonly llm: string;
}

/** The entries of the calls from one position up to another. */
export function* entriesOf(
  { ends, llms, llmOf, tokens, usd, partial }: UsageColumns,
  from: number,
  to: number,
): Generator<UsageEntry, undefined> {
  for (let entry = from === 0 ? 0 : ends[from - 1]!; entry < ends[to - 1]!; entry++) {
    const [llm, cost] = [llms[llmOf[entry]!]!, usd[entry]!];
    yield {
      llm,
      tokens: tokens[entry]!,
      usd: Number.isNaN(cost) ? null : cost,
      unpriced: partial[entry] === 1 ? [llm] : [],
    };
  }
}
