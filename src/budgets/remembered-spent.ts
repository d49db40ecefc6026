import { LRUCache } from "lru-cache";
import type { ProjectChanges } from "./project-changes.ts";
import type { SpentQuery, SpentReader } from "./spent.ts";

const MAX_SUMS = 2000;

interface Remembered {
  readonly change: string;
  readonly sum: Promise<unknown>;
}

/** Reads sums again only after a change of their project, for readers that repeat all the time. */
export function rememberSpent(reader: SpentReader, changes: ProjectChanges): SpentReader {
  const sums = new LRUCache<string, Remembered>({ max: MAX_SUMS });
  const remember = <Sum>(query: SpentQuery, value: string | null, read: () => Promise<Sum>): Promise<Sum> => {
    if (changes.isShared) return read();
    const { project, scope, window } = query;
    const key = JSON.stringify([project, scope, window.startUs, window.endUs, value]);
    const change = changes.stateOf(project);
    const known = sums.get(key);
    if (known?.change === change) return known.sum as Promise<Sum>;
    const sum = read();
    sums.set(key, { change, sum });
    sum.catch(() => sums.delete(key));
    return sum;
  };
  return {
    of: (query, value) => remember(query, value, () => reader.of(query, value)),
    byValue: (query) => remember(query, "\n", () => reader.byValue(query)),
  };
}
