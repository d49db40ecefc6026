import type { RecordId, Journal } from "../../journal/journal.ts";
import { parseJson } from "../../shared/json.ts";
import type { Project } from "../../shared/project.ts";
import { FairSemaphore, type Permit } from "../../fairness/fair-semaphore.ts";
import {
  recordIdOf,
  withoutContent,
  type EndedCompletion,
  type RecordedCompletion,
} from "./recorded-completion.ts";

/** Completion read back from the journal. */
export interface JournaledCompletion {
  readonly callId: string;
  readonly project: Project;
  readonly completion: RecordedCompletion;
  /** Length of its journal records. */
  readonly bytes: number;
  /** Its process was killed during the relay. */
  readonly isCut: boolean;
  /** Written by a killed process. */
  readonly isOrphaned: boolean;
}

/** Record written when a completion is sent (`started`: recorded if the process is killed) and when it ends. */
interface JournalRecord {
  readonly project: Project;
  readonly started?: RecordedCompletion;
  readonly ended?: Partial<RecordedCompletion>;
}

type Phase = Exclude<keyof JournalRecord, "project">;

interface Kept {
  readonly entries: RecordId[];
  /** Permits for its content bytes. */
  readonly permits: Permit[];
  hasInputs: boolean;
  readonly lastWriteMs: number | undefined;
}

/** Parses a record; `{}` if it is damaged. */
function recordIn(text: string): Partial<JournalRecord> {
  try {
    return parseJson(text) as JournalRecord;
  } catch {
    return {};
  }
}

const PREFIX = "completion/";
/** Journal bytes available to prompts and responses; the rest is reserved for counts. */
const MAX_CONTENT_BYTES = 192 * 1024 * 1024;
/** Shorter records need no content permit. */
const COUNTS_BYTES = 8 * 1024;

/** Completions not yet stored, in the local journal, by record id. */
export class CompletionJournal {
  readonly #journal: Journal | undefined;
  readonly #kept = new Map<string, Kept>();
  readonly #content: FairSemaphore;
  #rejected = 0;
  /** The last write succeeded. */
  isWritable: boolean;

  constructor(journal: Journal | undefined, maxContentBytes = MAX_CONTENT_BYTES) {
    this.#journal = journal;
    this.isWritable = journal !== undefined;
    this.#content = new FairSemaphore({ capacity: maxContentBytes });
    for (const { key, entry, lastWriteMs } of journal?.orphaned ?? []) {
      if (key.startsWith(PREFIX)) this.#keptAs(key.slice(PREFIX.length), lastWriteMs).entries.push(entry);
    }
  }

  /** Number of completions rejected at their end. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Returns the record ids written by killed processes. */
  orphaned(): string[] {
    return [...this.#kept].flatMap(([callId, { lastWriteMs }]) =>
      lastWriteMs === undefined ? [] : [callId],
    );
  }

  has(callId: string): boolean {
    return this.#kept.has(callId);
  }

  start(project: Project, started: () => RecordedCompletion): void {
    if (this.#journal === undefined) return;
    const { inputs, ...facts } = started();
    this.#add("started", project, { ...facts, readInputs: () => inputs });
  }

  /** Writes the end of a completion; returns true if it, or at least its counts, was written. */
  end(project: Project, completion: EndedCompletion): boolean {
    const isWritten = this.#add("ended", project, completion);
    if (!isWritten) this.#rejected++;
    return isWritten;
  }

  /** Reads a completion; `undefined` if its records are damaged. */
  read(callId: string): JournaledCompletion | undefined {
    const { entries = [], lastWriteMs } = this.#kept.get(callId) ?? {};
    const texts = entries.flatMap((entry) => this.#journal?.read(entry) ?? []);
    const { project, started, ended }: Partial<JournalRecord> = Object.assign({}, ...texts.map(recordIn));
    const isCut = ended === undefined;
    if (project === undefined || (isCut && started === undefined)) return undefined;
    const completion = { ...started, ...ended } as RecordedCompletion;
    const endedAtMs = isCut
      ? Math.max(completion.startedAtMs, Math.floor(lastWriteMs ?? 0))
      : completion.endedAtMs;
    return {
      callId,
      project,
      completion: { ...completion, endedAtMs },
      bytes: texts.reduce((sum, text) => sum + text.length, 0),
      isCut,
      isOrphaned: lastWriteMs !== undefined,
    };
  }

  remove(callIds: readonly string[]): void {
    const gone = callIds.flatMap((callId) => this.#kept.get(callId)?.entries ?? []);
    for (const callId of callIds) {
      for (const permit of this.#kept.get(callId)?.permits ?? []) permit.release();
      this.#kept.delete(callId);
    }
    if (gone.length > 0) this.#journal?.remove(gone);
  }

  /** Writes the whole record or, if it does not fit, the record without content. */
  #add(as: Phase, project: Project, all: EndedCompletion): boolean {
    return this.#addOne(as, project, all) || this.#addOne(as, project, withoutContent(all), true);
  }

  #addOne(as: Phase, project: Project, { readInputs, ...facts }: EndedCompletion, isBare = false): boolean {
    const name = recordIdOf(facts);
    const hasInputs = this.#kept.get(name)?.hasInputs === true;
    const one = hasInputs ? facts : { ...facts, inputs: readInputs() };
    const text = JSON.stringify({ project, [as]: one });
    const bytes = Buffer.byteLength(text);
    const isContent = !isBare && bytes > COUNTS_BYTES;
    const permit = isContent ? this.#content.tryAcquire({ project, key: facts.apiKey }, bytes) : undefined;
    if (isContent && permit === undefined) return false;
    const entry = this.#journal?.add(PREFIX + name, text);
    this.isWritable = entry !== undefined;
    if (entry === undefined) {
      permit?.release();
      return false;
    }
    const kept = this.#keptAs(name, undefined);
    kept.entries.push(entry);
    kept.hasInputs ||= !isBare;
    if (permit !== undefined) kept.permits.push(permit);
    return true;
  }

  #keptAs(name: string, lastWriteMs: number | undefined): Kept {
    const kept = this.#kept.get(name) ?? { entries: [], permits: [], hasInputs: false, lastWriteMs };
    this.#kept.set(name, kept);
    return kept;
  }
}
