import type { Journal, JournalRecord, RecordId } from "../../journal/journal.ts";
import { parseJson } from "../../shared/json.ts";
import type { Project } from "../../shared/project.ts";
import { isHoldRecord } from "./background-holds.ts";
import { withoutContent, type EndedCompletion, type RecordedCompletion } from "./recorded-completion.ts";

/** Completion read back from the journal. */
export interface JournaledCompletion {
  readonly name: string;
  readonly project: Project;
  readonly completion: EndedCompletion;
  readonly bytes: number;
  /** Left by a killed process: with its end, or with its start alone. */
  readonly orphaned: "finished" | "cut" | undefined;
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
  readonly project: Project;
  readonly as: "started" | "ended";
  readonly completion: EndedCompletion;
  readonly onWritten?: (isWritten: boolean) => void;
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
  rejected = 0;
  isWritable: boolean;

  constructor(journal: Journal | undefined, maxContentBytes = MAX_CONTENT_BYTES) {
    this.#journal = journal;
    this.#maxContentBytes = maxContentBytes;
    this.isWritable = journal !== undefined;
    for (const { key, id, bytes } of journal?.orphaned.filter(({ key }) => !isHoldRecord(key)) ?? [])
      this.#keep(key, id, { bytes, hasInputs: false, isOrphaned: true });
  }

  /** Returns the names that it has; at first, those written by a killed process. */
  names(): string[] {
    return [...this.#kept.keys()];
  }

  /** Resolves when the start of a completion is written; false: it could not be. True without a journal. */
  start(name: string, project: Project, started: () => EndedCompletion): Promise<boolean> {
    if (this.#journal === undefined) return Promise.resolve(true);
    const { promise, resolve: onWritten } = Promise.withResolvers<boolean>();
    this.#add(this.#journal, { name, project, as: "started", completion: started(), onWritten });
    return promise;
  }

  /** Resolves when the end of a completion, or at least its counts, is written; false: it could not be. */
  end(name: string, project: Project, completion: EndedCompletion): Promise<boolean> {
    const { promise, resolve: onWritten } = Promise.withResolvers<boolean>();
    const one = { name, project, as: "ended", completion, onWritten } as const;
    if (this.#journal === undefined) this.#settle(one, false);
    else this.#add(this.#journal, one);
    return promise;
  }

  /** Reads a completion; `undefined` if its records are damaged. */
  read(name: string): JournaledCompletion | undefined {
    const { ids = [], bytes = 0, isOrphaned = false } = this.#kept.get(name) ?? {};
    const records = ids.map((id) => recordIn(this.#journal?.read(id) ?? "{}"));
    const { project, started, ended }: Partial<CompletionRecord> = Object.assign({}, ...records);
    const isCut = ended === undefined;
    if (project === undefined || (isCut && started === undefined)) return undefined;
    const { inputs, ...facts } = { ...started, ...ended } as RecordedCompletion;
    const lastWriteMs = Math.floor(this.#journal?.lastWriteMs ?? 0);
    const endedAtMs = isCut ? Math.max(facts.startedAtMs, lastWriteMs) : facts.endedAtMs;
    const orphaned = isOrphaned ? (isCut ? "cut" : "finished") : undefined;
    return {
      name,
      project,
      completion: { ...facts, endedAtMs, readInputs: () => inputs },
      bytes,
      orphaned,
    };
  }

  remove(names: readonly string[]): void {
    const gone = names.flatMap((name) => this.#kept.get(name) ?? []);
    for (const name of names) this.#kept.delete(name);
    this.#bytes -= gone.reduce((sum, { bytes }) => sum + bytes, 0);
    if (gone.length > 0) this.#journal?.remove(gone.flatMap(({ ids }) => ids));
  }

  #add(journal: Journal, one: Added): void {
    if (this.#waiting.push(one) === 1) setImmediate(() => this.#commit(journal));
  }

  #commit(journal: Journal): void {
    const added = this.#waiting;
    this.#waiting = [];
    const hasContent = this.#bytes < this.#maxContentBytes;
    const records = added.map((one) => this.#recordOf(one, hasContent));
    const ids = journal.add(records);
    for (const [at, one] of added.entries()) {
      const record = ids === undefined ? this.#recordOf(one, false) : records[at]!;
      const id = ids === undefined ? journal.add([record])?.[0] : ids[at];
      this.isWritable = id !== undefined;
      if (id !== undefined) {
        const bytes = Buffer.byteLength(record.text);
        this.#keep(one.name, id, { bytes, hasInputs: record.hasContent, isOrphaned: false });
      }
      this.#settle(one, id !== undefined);
    }
  }

  #settle({ as, onWritten }: Added, isWritten: boolean): void {
    if (as === "ended" && !isWritten) this.rejected++;
    onWritten?.(isWritten);
  }

  #keep(name: string, id: RecordId, { bytes, hasInputs, isOrphaned }: Omit<Kept, "ids">): void {
    const kept = this.#kept.get(name) ?? { ids: [], bytes: 0, hasInputs, isOrphaned };
    kept.ids.push(id);
    kept.bytes += bytes;
    kept.hasInputs ||= hasInputs;
    this.#kept.set(name, kept);
    this.#bytes += bytes;
  }

  /** Returns a record, whose inputs an earlier one may have; without content if its text cannot be made. */
  #recordOf(one: Added, hasContent: boolean): JournalRecord & { readonly hasContent: boolean } {
    const { name, project, as, completion } = one;
    const { readInputs, ...facts } = hasContent ? completion : withoutContent(completion);
    const isKnown = this.#kept.get(name)?.hasInputs === true;
    try {
      const text = JSON.stringify({ project, [as]: isKnown ? facts : { ...facts, inputs: readInputs() } });
      return { key: name, text, hasContent };
    } catch (error) {
      if (!hasContent) throw error;
      return this.#recordOf(one, false);
    }
  }
}

/** Parses a record; `{}` if it is damaged. */
function recordIn(text: string): Partial<CompletionRecord> {
  try {
    return parseJson(text) as CompletionRecord;
  } catch {
    return {};
  }
}
