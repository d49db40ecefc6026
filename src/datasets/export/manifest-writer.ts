import { createHash, hash, randomUUID } from "node:crypto";
import type { CallRowKey } from "../../calls/read/call-keys.ts";
import { invalid, type AppError } from "../../shared/errors.ts";
import { toStoreText, type EpochMicros } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import { HELD_OUT, type Verdict } from "../reasons.ts";
import type { ExportQuestion } from "../schema.ts";

/** Selected calls with their line, or the reason why they have none. */
export interface Outcome {
  /** One; two for a preference. */
  readonly calls: readonly { readonly place: number; readonly key: CallRowKey }[];
  readonly result: { readonly line: string } | Verdict;
}

export interface ManifestOptions {
  readonly project: Project;
  readonly question: ExportQuestion;
  readonly apiKey: string;
  readonly createdAt: EpochMicros;
}

const ROWS_PER_INSERT = 20_000;
const CHUNK_BYTES = 64 * 1024;

/** Numbers the lines of an export, and stores which selected call became which. */
export class ManifestWriter {
  readonly id = randomUUID();
  readonly #engine: Engine;
  readonly #options: ManifestOptions;
  readonly #sha256 = createHash("sha256");
  readonly #written = new Set<string>();
  readonly #leftOut = new Map<Verdict, number>();
  #rows: object[] = [];
  #exported = 0;
  #lines = 0;
  #bytes = 0;

  constructor(engine: Engine, options: ManifestOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** True once the export has as many lines as it may have. */
  get isFull(): boolean {
    return this.#lines >= (this.#options.question.limit ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Yields the lines in chunks. The manifest is durable before the last of them. Throws `validation`, with what was left out, if
   * there is no line.
   */
  async *write(outcomes: AsyncIterable<Outcome>): AsyncGenerator<Buffer> {
    let lines: string[] = [];
    let length = 0;
    for await (const outcome of outcomes) {
      const line = this.#take(outcome);
      if (this.#rows.length >= ROWS_PER_INSERT) await this.#storeCalls();
      if (line === undefined) continue;
      if (length >= CHUNK_BYTES) {
        yield this.#chunk(lines);
        lines = [];
        length = 0;
      }
      lines.push(line);
      length += line.length;
    }
    if (this.#lines === 0) throw this.#nothing();
    const last = this.#chunk(lines);
    await this.#storeCalls();
    await this.#store();
    yield last;
  }

  #take({ calls, result }: Outcome): string | undefined {
    const verdict = typeof result === "string" ? result : this.#refusal(result.line);
    if (verdict === undefined) {
      this.#lines++;
      this.#exported += calls.length;
    } else this.#leftOut.set(verdict, (this.#leftOut.get(verdict) ?? 0) + calls.length);
    const { project: project_id, createdAt } = this.#options;
    for (const { place, key } of calls)
      this.#rows.push({
        project_id,
        export_id: this.id,
        place,
        line: verdict === undefined ? this.#lines : 0,
        reason: verdict ?? "",
        trace_id: key.traceId,
        call_id: key.id,
        created_at: toStoreText(createdAt),
      });
    return typeof result === "string" || verdict !== undefined ? undefined : `${result.line}\n`;
  }

  /** Returns why a line is not written. */
  #refusal(line: string): Verdict | undefined {
    const isUnique = this.#options.question.dedupe === true;
    const digest = isUnique ? hash("sha256", line, "binary") : "";
    if (isUnique && this.#written.has(digest)) return "duplicate";
    if (this.isFull) return "over_limit";
    if (isUnique) this.#written.add(digest);
    return undefined;
  }

  #chunk(lines: readonly string[]): Buffer {
    const chunk = Buffer.from(lines.join(""));
    this.#sha256.update(chunk);
    this.#bytes += chunk.length;
    return chunk;
  }

  async #storeCalls(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    if (rows.length > 0)
      await this.#engine.insert("dataset_export_calls", rows, { name: "dataset_calls_add" });
  }

  async #store(): Promise<void> {
    const { project, question, apiKey, createdAt } = this.#options;
    const { [HELD_OUT]: held_out = 0, ...leftOut } = this.#counts();
    const others = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
    const row = {
      project_id: project,
      id: this.id,
      created_at: toStoreText(createdAt),
      created_by: apiKey,
      question: JSON.stringify(question),
      format: question.format,
      selected: this.#exported + held_out + others,
      exported: this.#exported,
      held_out,
      left_out: JSON.stringify(leftOut),
      sha256: this.#sha256.digest("hex"),
      bytes: this.#bytes,
      lines: this.#lines,
    };
    await this.#engine.insert("dataset_exports", [row], { name: "dataset_export_add" });
  }

  /** Counts by reason, in alphabetical order. */
  #counts(): Partial<Record<Verdict, number>> {
    const sorted = [...this.#leftOut].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted);
  }

  #nothing(): AppError {
    const counts = Object.entries(this.#counts()).map(([reason, count]) => `${count} ${reason}`);
    const why = counts.length === 0 ? "no calls are selected" : counts.join(", ");
    return invalid([{ loc: ["body"], msg: `Nothing to export: ${why}`, type: "empty_dataset" }]);
  }
}
