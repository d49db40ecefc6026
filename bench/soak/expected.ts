/** Usage of a call and its descendants. */
export interface Used {
  readonly llm: string;
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** Acknowledged calls, which responses must contain. */
export class Expected {
  /** By project and call. */
  readonly calls = new Map<string, Map<string, Used>>();
  /** Scores by project. */
  readonly feedback = new Map<string, { count: number; sum: number }>();
  /** Deleted calls, and calls whose upload never ended. */
  readonly absent = new Map<string, Set<string>>();
  /** Calls sent whole by clients that did not wait for the answer: they may be there or not. */
  readonly unacknowledged = new Map<string, Map<string, Used>>();
  /** Traces that can be asked about: project, trace and root. */
  readonly traces: { readonly project: string; readonly trace: string; readonly root: string }[] = [];

  acknowledge(project: string, calls: ReadonlyMap<string, Used>): void {
    const known = entry(this.calls, project, () => new Map<string, Used>());
    for (const [id, used] of calls) known.set(id, used);
  }

  leave(project: string, calls: ReadonlyMap<string, Used>): void {
    const known = entry(this.unacknowledged, project, () => new Map<string, Used>());
    for (const [id, used] of calls) known.set(id, used);
  }

  deny(project: string, ids: Iterable<string>): void {
    const known = entry(this.absent, project, () => new Set<string>());
    for (const id of ids) known.add(id);
  }

  score(project: string, score: number): void {
    const known = entry(this.feedback, project, () => ({ count: 0, sum: 0 }));
    known.count++;
    known.sum += score;
  }
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
