import { LRUCache } from "lru-cache";
import type { Engine } from "../store/engine.ts";
import type { HourRange } from "../query/index.ts";
import type { Project } from "../shared/project.ts";
import { hourKey, oneOf, readFingerprints, within } from "./hour.ts";

/** Of all projects together. */
const MAX_REMEMBERED = 20_000;
/** Longer windows are read each time. */
const MAX_HOURS = 5000;

interface Options {
  readonly name: string;
  readonly signal?: AbortSignal;
}

interface Remembered {
  /** `Engine.changesOf` before it was read. */
  readonly state: number;
  /** Undefined: the hour has no rows. */
  readonly fingerprint: string | undefined;
}

/**
 * The fingerprints of hours as `readFingerprints` has them, each as long as nobody writes calls under it or changes all:
 * only where a single process writes.
 */
export class FingerprintMemory {
  readonly #engine: Engine;
  readonly #known = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  within(project: Project, { from, to }: HourRange, options: Options): Promise<ReadonlyMap<number, string>> {
    if (to - from >= MAX_HOURS) return readFingerprints(this.#engine, project, within({ from, to }), options);
    const hours = Array.from({ length: Math.max(0, to - from + 1) }, (_, place) => from + place);
    return this.of(project, hours, options);
  }

  async of(
    project: Project,
    hours: readonly number[],
    options: Options,
  ): Promise<ReadonlyMap<number, string>> {
    if (hours.length > MAX_HOURS) return readFingerprints(this.#engine, project, oneOf(hours), options);
    const found = new Map<number, string>();
    const unknown = new Map<number, number | undefined>();
    const keep = (hour: number, fingerprint: string | undefined): void => {
      if (fingerprint !== undefined) found.set(hour, fingerprint);
    };
    for (const hour of hours) {
      const state = this.#engine.changesOf("calls", { project_id: project, hour });
      const known = this.#known.get(hourKey({ project, hour }));
      if (state !== undefined && known?.state === state) keep(hour, known.fingerprint);
      else unknown.set(hour, state);
    }
    if (unknown.size === 0) return found;
    const read = await readFingerprints(this.#engine, project, conditionOf([...unknown.keys()]), options);
    for (const [hour, state] of unknown) {
      const fingerprint = read.get(hour);
      keep(hour, fingerprint);
      if (state !== undefined) this.#known.set(hourKey({ project, hour }), { state, fingerprint });
    }
    return found;
  }
}

/** Each once. The store finds a range of hours by less work than a list. */
function conditionOf(hours: readonly number[]) {
  const [from, to] = [Math.min(...hours), Math.max(...hours)];
  return to - from + 1 === hours.length ? within({ from, to }) : oneOf(hours);
}
