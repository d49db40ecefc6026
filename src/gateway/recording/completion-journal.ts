import type { Entry, Journal } from "../../journal/journal.ts";
import { parseJson } from "../../shared/json.ts";
import type { Project } from "../../shared/project.ts";
import { recordIdOf, type EndedCompletion, type RecordedCompletion } from "./recorded-completion.ts";

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

interface Kept {
  readonly entries: Entry[];
  readonly leftAtMs: number | undefined;
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

/** The completions that are not stored yet, in the journal of this machine, by the ids of their calls. */
export class CompletionJournal {
  readonly #journal: Journal | undefined;
  readonly #kept = new Map<string, Kept>();
  #missed = 0;

  constructor(journal: Journal | undefined) {
    this.#journal = journal;
    for (const { key, entry, leftAtMs } of journal?.left ?? []) {
      if (key.startsWith(PREFIX)) this.#keep(key.slice(PREFIX.length), entry, leftAtMs);
    }
  }

  /** How many completions it did not take when they ended. */
  get missed(): number {
    return this.#missed;
  }

  /** Those that killed processes have left. */
  left(): string[] {
    return [...this.#kept].flatMap(([callId, { leftAtMs }]) => (leftAtMs === undefined ? [] : [callId]));
  }

  has(callId: string): boolean {
    return this.#kept.has(callId);
  }

  start(project: Project, started: () => RecordedCompletion): void {
    if (this.#journal === undefined) return;
    const completion = started();
    this.#add(completion.callId, { project, started: completion });
  }

  /** Whether the journal has taken it. */
  end(project: Project, { readInputs, ...others }: EndedCompletion): boolean {
    const name = recordIdOf(others);
    const ended = this.has(name) ? others : { ...others, inputs: readInputs() };
    const isTaken = this.#journal !== undefined && this.#add(name, { project, ended });
    if (!isTaken) this.#missed++;
    return isTaken;
  }

  /** Undefined: it cannot be read. */
  read(callId: string): JournaledCompletion | undefined {
    const { entries = [], leftAtMs } = this.#kept.get(callId) ?? {};
    const texts = entries.flatMap((entry) => this.#journal?.read(entry) ?? []);
    const { project, started, ended }: Partial<JournalRecord> = Object.assign({}, ...texts.map(recordIn));
    const isCut = ended === undefined;
    if (project === undefined || (isCut && started === undefined)) return undefined;
    const completion = { ...started, ...ended } as RecordedCompletion;
    const endedAtMs = isCut
      ? Math.max(completion.startedAtMs, Math.floor(leftAtMs ?? 0))
      : completion.endedAtMs;
    return {
      callId,
      project,
      completion: { ...completion, endedAtMs },
      bytes: texts.reduce((sum, text) => sum + text.length, 0),
      isCut,
      isLeft: leftAtMs !== undefined,
    };
  }

  remove(callIds: readonly string[]): void {
    const gone = callIds.flatMap((callId) => this.#kept.get(callId)?.entries ?? []);
    for (const callId of callIds) this.#kept.delete(callId);
    if (gone.length > 0) this.#journal?.remove(gone);
  }

  #add(callId: string, record: JournalRecord): boolean {
    const entry = this.#journal?.add(PREFIX + callId, JSON.stringify(record));
    if (entry === undefined) return false;
    this.#keep(callId, entry, undefined);
    return true;
  }

  #keep(callId: string, entry: Entry, leftAtMs: number | undefined): void {
    const kept = this.#kept.get(callId);
    if (kept === undefined) this.#kept.set(callId, { entries: [entry], leftAtMs });
    else kept.entries.push(entry);
  }
}
