import { useCallback, useRef, useState } from "preact/hooks";
import type { RequestOptions } from "../api/client.ts";
import { useQuery, type QueryState } from "../api/use-query.ts";
import type { SeenRows } from "../components/row-list.tsx";

/** How many rows are asked for at a time; only rows in sight, because traces can be large. */
const BLOCK = 50;

interface Seen<Row> {
  readonly seen: readonly Row[];
  readonly onSeen: (seen: SeenRows) => void;
}

/** The rows in sight, and some around them. */
export function useSeen<Row>(rows: readonly Row[]): Seen<Row> {
  const [blocks, setBlocks] = useState<SeenRows>({ first: 0, last: 0 });
  const onSeen = useCallback(({ first, last }: SeenRows) => {
    const [from, to] = [Math.floor(first / BLOCK), Math.floor(Math.max(first, last) / BLOCK)];
    setBlocks((blocks) => (blocks.first === from && blocks.last === to ? blocks : { first: from, last: to }));
  }, []);
  return { seen: rows.slice(blocks.first * BLOCK, (blocks.last + 1) * BLOCK), onSeen };
}

type Known<Value> = ReadonlyMap<string, Value>;
type LoadOfSeen<Value> = Omit<QueryState<Known<Value>>, "value"> & { readonly value: Known<Value> };

/** Details of rows that come into sight, together with those loaded before in this project. Loaded again when `asked` changes. */
export function useOfSeen<Value>(
  project: string,
  asked: readonly unknown[],
  load: (asking: RequestOptions) => Promise<Known<Value>>,
): LoadOfSeen<Value> {
  const answer = useQuery(JSON.stringify([project, ...asked]), load);
  const known = useRef<{ project: string; answer: Known<Value> | undefined; all: Known<Value> }>({
    project,
    answer: undefined,
    all: new Map(),
  });
  const { value } = answer;
  const before: Known<Value> = known.current.project === project ? known.current.all : new Map();
  if (before !== known.current.all || value !== known.current.answer)
    known.current = { project, answer: value, all: new Map([...before, ...(value ?? [])]) };
  return { ...answer, value: known.current.all };
}
