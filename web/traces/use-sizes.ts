import { useCallback, useRef, useState } from "preact/hooks";
import { useLoad, type Load } from "../api/use-load.ts";
import type { SeenRows } from "../parts/row-list.tsx";
import type { TraceRow } from "./load-rows.ts";
import { loadSizes, type TraceSize } from "./trace-sizes.ts";

type Sizes = ReadonlyMap<string, TraceSize>;

/** Asked of so many rows at a time, and of no others than those that somebody looks at: traces can be large. */
const BLOCK = 50;

interface SeenSizes {
  readonly sizes: Load<Sizes>;
  readonly onSeen: (seen: SeenRows) => void;
}

/** The sizes of the traces of the rows that were seen. Asked again when a row that is not finished has used more. */
export function useSizes(project: string, rows: readonly TraceRow[]): SeenSizes {
  const [blocks, setBlocks] = useState<SeenRows>({ first: 0, last: 0 });
  const onSeen = useCallback(({ first, last }: SeenRows) => {
    const [from, to] = [Math.floor(first / BLOCK), Math.floor(Math.max(first, last) / BLOCK)];
    setBlocks((blocks) => (blocks.first === from && blocks.last === to ? blocks : { first: from, last: to }));
  }, []);
  const seen = rows.slice(blocks.first * BLOCK, (blocks.last + 1) * BLOCK);
  const traceIds = [...new Set(seen.map(({ call }) => call.trace_id))];
  const running = seen.flatMap(({ call, total }) => (call.ended_at === null ? [total?.requests ?? 0] : []));
  const load = useLoad(JSON.stringify([project, traceIds, running]), (asking) =>
    loadSizes(project, traceIds, asking),
  );
  return { sizes: { ...load, value: useAll(project, load.value) }, onSeen };
}

/** All answers that there were of a project. */
function useAll(project: string, answer: Sizes | undefined): Sizes {
  const known = useRef<{ project: string; answer: Sizes | undefined; sizes: Sizes }>({
    project,
    answer: undefined,
    sizes: new Map(),
  });
  const before = known.current.project === project ? known.current.sizes : new Map<string, TraceSize>();
  if (before !== known.current.sizes || answer !== known.current.answer)
    known.current = { project, answer, sizes: new Map([...before, ...(answer ?? [])]) };
  return known.current.sizes;
}
