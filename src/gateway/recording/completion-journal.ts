import type { Journal, JournalRecord, RecordId } from "../../journal/journal.ts";
import { parseJson } from "../../shared/json.ts";
import type { Project } from "../../shared/project.ts";
import { withoutContent, type EndedCompletion, type RecordedCompletion } from "./recorded-completion.ts";

/** Completion read back from the journal. */
export interface JournaledCompletion {
  readonly name: string;
  readonly project: Project;
  readonly completion: RecordedCompletion;
  /** Length of its journal records. */
  readonly bytes: number;
  /** Its process was killed during the relay. */
  readonly isCut: boolean;
  readonly isOrphaned: boolean;
}

/** Record written when a completion is sent (`started`: recorded if the process is killed) and when it ends. */
interface CompletionRecord {
  readonly project: Project;
  readonly started?: RecordedCompletion;
  readonly ended?: Partial<RecordedCompletion>;
}

interface Kept {
  readonly ids: RecordId[];
  bytes: number;
  hasInputs: boolean;
  readonly isOrphaned: boolean;
}

interface Added {
  readonly name: string;
  /** `false`: without content. */
  readonly text: (hasContent: boolean) => string;
  readonly onWritten: (isWritten: boolean) => void;
}

/** Journal bytes available to prompts and responses; the rest is reserved for counts. */
const MAX_CONTENT_BYTES = 192 * 1024 * 1024;

/** Completions not yet stored, in the local journal, by name. The records of one turn of the event loop are one transaction. */
export class CompletionJournal {
  readonly #journal: Journal | undefined;
  readonly #maxContentBytes: number;
  readonly #kept = new Map<string, Kept>();
  #waiting: Added[] = [];
  #bytes = 0;
  /** Number of completions rejected at their end. */
  rejected = 0;
  /** The last write succeeded. */
  isWritable: boolean;

  constructor(journal: Journal | undefined, maxContentBytes = MAX_CONTENT_BYTES) {
    this.#journal = journal;
    this.#maxContentBytes = maxContentBytes;
    this.isWritable = journal !== undefined;
    for (const { key, id } of journal?.orphaned ?? []) this.#keptAs(key, true).ids.push(id);
  }

  /** Returns the names written by a killed process. */
  orphaned(): string[] {
    return [...this.#kept].flatMap(([name, { isOrphaned }]) => (isOrphaned ? [name] : []));
  }

  has(name: string): boolean {
    return this.#kept.has(name);
  }

  start(name: string, project: Project, started: () => RecordedCompletion): void {
    if (this.#journal === undefined) return;
    const { inputs, ...facts } = started();
    const bare = withoutContent({ ...facts, readInputs: () => inputs });
    this.#add({
      name,
      text: (hasContent) => textOf(project, "started", hasContent ? { ...facts, inputs } : written(bare)),
      onWritten: () => undefined,
    });
  }

  /** Resolves when the end of a completion, or at least its counts, is written; false: it could not be. */
  end(name: string, project: Project, completion: EndedCompletion): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#add({
      name,
      text: (hasContent) => {
        const { readInputs, ...facts } = hasContent ? completion : withoutContent(completion);
        const isKnown = this.#kept.get(name)?.hasInputs === true;
        return textOf(project, "ended", isKnown ? facts : { ...facts, inputs: readInputs() });
      },
      onWritten: (isWritten) => {
        if (!isWritten) this.rejected++;
        resolve(isWritten);
      },
    });
    return promise;
  }

  /** Reads a completion; `undefined` if its records are damaged. */
  read(name: string): JournaledCompletion | undefined {
    const { ids = [], isOrphaned = false } = this.#kept.get(name) ?? {};
    const texts = ids.flatMap((id) => this.#journal?.read(id) ?? []);
    const { project, started, ended }: Partial<CompletionRecord> = Object.assign({}, ...texts.map(recordIn));
    const isCut = ended === undefined;
    if (project === undefined || (isCut && started === undefined)) return undefined;
    const completion = { ...started, ...ended } as RecordedCompletion;
    const lastWriteMs = Math.floor(this.#journal?.lastWriteMs ?? 0);
    const endedAtMs = isCut ? Math.max(completion.startedAtMs, lastWriteMs) : completion.endedAtMs;
    const bytes = texts.reduce((sum, text) => sum + text.length, 0);
    return { name, project, completion: { ...completion, endedAtMs }, bytes, isCut, isOrphaned };
  }

  remove(names: readonly string[]): void {
    this.#commit();
    const gone = names.flatMap((name) => this.#kept.get(name)?.ids ?? []);
    for (const name of names) {
      this.#bytes -= this.#kept.get(name)?.bytes ?? 0;
      this.#kept.delete(name);
    }
    if (gone.length > 0) this.#journal?.remove(gone);
  }

  #add(one: Added): void {
    if (this.#waiting.push(one) === 1) setImmediate(() => this.#commit());
  }

  #commit(): void {
    const added = this.#waiting;
    this.#waiting = [];
    if (added.length === 0) return;
    const hasContent = this.#bytes < this.#maxContentBytes;
    const records = added.map((one) => recordOf(one, hasContent));
    const ids = this.#journal?.add(records);
    for (const [at, one] of added.entries()) {
      const isBare = ids === undefined && this.#journal !== undefined;
      const record = isBare ? recordOf(one, false) : records[at]!;
      const id = isBare ? this.#journal.add([record])?.[0] : ids?.[at];
      this.isWritable = id !== undefined;
      if (id !== undefined)
        this.#keep(one.name, id, { bytes: Buffer.byteLength(record.text), hasInputs: hasContent && !isBare });
      one.onWritten(id !== undefined);
    }
  }

  #keep(name: string, id: RecordId, { bytes, hasInputs }: { bytes: number; hasInputs: boolean }): void {
    const kept = this.#keptAs(name, false);
    kept.ids.push(id);
    kept.bytes += bytes;
    kept.hasInputs ||= hasInputs;
    this.#bytes += bytes;
  }

  #keptAs(name: string, isOrphaned: boolean): Kept {
    const kept = this.#kept.get(name) ?? { ids: [], bytes: 0, hasInputs: false, isOrphaned };
    this.#kept.set(name, kept);
    return kept;
  }
}

function recordOf({ name, text }: Added, hasContent: boolean): JournalRecord {
  return { key: name, text: text(hasContent) };
}

function textOf(project: Project, as: "started" | "ended", completion: object): string {
  return JSON.stringify({ project, [as]: completion });
}

function written({ readInputs, ...facts }: EndedCompletion): RecordedCompletion {
  return { ...facts, inputs: readInputs() };
}

/** Parses a record; `{}` if it is damaged. */
function recordIn(text: string): Partial<CompletionRecord> {
  try {
    return parseJson(text) as CompletionRecord;
  } catch {
    return {};
  }
}
