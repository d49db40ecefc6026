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

/** A completion as the journal has it. */
export interface JournaledCompletion {
  readonly callId: string;
  readonly project: Project;
  readonly completion: RecordedCompletion;
  /** The length of its records. */
  readonly bytes: number;
  /** It was still being relayed when its process was killed. */
  readonly isCut: boolean;
  /** A killed process has left it. */
  readonly isLeft: boolean;
}

/** Written when a completion has been sent, with what to record if the process is killed; and when it has ended. */
interface JournalRecord {
  readonly project: Project;
  readonly started?: RecordedCompletion;
  readonly ended?: Partial<RecordedCompletion>;
}

type Phase = Exclude<keyof JournalRecord, "project">;

interface Kept {
  readonly entries: RecordId[];
  /** The room of its content. */
  readonly held: Permit[];
  hasInputs: boolean;
  readonly lastWriteMs: number | undefined;
}

/** Nothing of a record that is damaged. */
function recordIn(text: string): Partial<JournalRecord> {
  try {
    return parseJson(text) as JournalRecord;
  } catch {
    return {};
  }
}

const PREFIX = "completion/";
/** What prompts and answers may take of the journal: the rest has room for counts. */
const MAX_CONTENT_BYTES = 192 * 1024 * 1024;
/** Shorter records are no content. */
const COUNTS_BYTES = 8 * 1024;

/** The completions that are not stored yet, in the journal of this machine, by the ids of their calls. */
export class CompletionJournal {
  readonly #journal: Journal | undefined;
  readonly #kept = new Map<string, Kept>();
  readonly #content: FairSemaphore;
  #missed = 0;
  /** It has taken the last record that it was given. */
  takes: boolean;

  constructor(journal: Journal | undefined, maxContentBytes = MAX_CONTENT_BYTES) {
    this.#journal = journal;
    this.takes = journal !== undefined;
    this.#content = new FairSemaphore({ capacity: maxContentBytes });
    for (const { key, entry, lastWriteMs } of journal?.orphaned ?? []) {
      if (key.startsWith(PREFIX)) this.#keptAs(key.slice(PREFIX.length), lastWriteMs).entries.push(entry);
    }
  }

  /** How many completions it did not take when they ended. */
  get missed(): number {
    return this.#missed;
  }

  /** Those that killed processes have left. */
  left(): string[] {
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

  /** Whether the journal has taken it, or at least its counts. */
  end(project: Project, completion: EndedCompletion): boolean {
    const isTaken = this.#add("ended", project, completion);
    if (!isTaken) this.#missed++;
    return isTaken;
  }

  /** Undefined: it cannot be read. */
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
      isLeft: lastWriteMs !== undefined,
    };
  }

  remove(callIds: readonly string[]): void {
    const gone = callIds.flatMap((callId) => this.#kept.get(callId)?.entries ?? []);
    for (const callId of callIds) {
      for (const held of this.#kept.get(callId)?.held ?? []) held.release();
      this.#kept.delete(callId);
    }
    if (gone.length > 0) this.#journal?.remove(gone);
  }

  /** Adds all of it or, without room for what was asked and said, the rest. */
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
    const held = isContent ? this.#content.tryAcquire({ project, key: facts.apiKey }, bytes) : undefined;
    if (isContent && held === undefined) return false;
    const entry = this.#journal?.add(PREFIX + name, text);
    this.takes = entry !== undefined;
    if (entry === undefined) {
      held?.release();
      return false;
    }
    const kept = this.#keptAs(name, undefined);
    kept.entries.push(entry);
    kept.hasInputs ||= !isBare;
    if (held !== undefined) kept.held.push(held);
    return true;
  }

  #keptAs(name: string, lastWriteMs: number | undefined): Kept {
    const kept = this.#kept.get(name) ?? { entries: [], held: [], hasInputs: false, lastWriteMs };
    this.#kept.set(name, kept);
    return kept;
  }
}
