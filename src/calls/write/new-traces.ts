import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { Engine } from "../../store/engine.ts";
import type { TableState } from "../../store/table-memory.ts";
import { param, sql } from "../../query/sql.ts";
import { BloomFilter } from "../../shared/bloom-filter.ts";
import { viewOf } from "../../shared/buffers.ts";
import type { Project } from "../../shared/project.ts";

interface TraceKey {
  readonly project_id: Project;
  readonly trace_id: string;
}

export interface NewTracesLimits {
  /** Of a store with more notes, nothing is known. */
  readonly maxNotes: number;
  /** So many notes are read in the time of one look-up. */
  readonly notesPerLookUp: number;
}

const BITS_PER_NOTE = 16;
/** 8 MiB of bits. */
const LIMITS: NewTracesLimits = { maxNotes: 2 ** 22, notesPerLookUp: 50_000 };
/** Between two of them, others have a turn. */
const HASHES_PER_TURN = 2 ** 17;

/**
 * Tells that a trace has no note in `trace_hours`, without a look-up: a filter has the hashes of all that are noted. Only
 * where a single process writes (`Engine.changesOf`). After anybody else's change it is read anew, once that costs no more
 * than the look-ups since: a deletion and a restart make it wait in proportion to the store.
 */
export class NewTraces {
  readonly #engine: Engine;
  readonly #limits: NewTracesLimits;
  #noted: BloomFilter | undefined;
  /** How many hashes it has. */
  #count = 0;
  /** The state of the table in which the filter has all of its traces; undefined without a filter. */
  #state: TableState;
  /** Since the filter was last read. */
  #lookUps = 0;
  /** Of the table, once it was asked for. */
  #notes: number | undefined;

  constructor(engine: Engine, limits = LIMITS) {
    this.#engine = engine;
    this.#limits = limits;
  }

  /** To be called before traces are noted that are not remembered. */
  async refresh(): Promise<void> {
    const state = this.#now();
    if (state === undefined || state === this.#state) return;
    this.#lookUps++;
    // what fails here fails no write: traces are looked up then
    this.#notes ??= await countNotes(this.#engine).catch(() => undefined);
    if (this.#notes === undefined || this.#notes > this.#lookUps * this.#limits.notesPerLookUp) return;
    const isSmall = this.#notes <= this.#limits.maxNotes;
    this.#lookUps = 0;
    this.#notes = undefined;
    this.#forget();
    if (isSmall) await this.#read().catch(() => undefined);
  }

  /** Whether the store has no note of it, as long as the table stays in this state. */
  has(trace: TraceKey): boolean {
    if (this.#noted === undefined || this.#now() !== this.#state) return false;
    return !this.#noted.has(hashOf(trace));
  }

  /** Takes in traces that have been noted, by so many inserts of one's own since `began`. */
  learn(began: TableState, ownInserts: number, traces: readonly TraceKey[]): void {
    if (began === undefined || began !== this.#state) return;
    // behind the table if others have changed it too
    this.#state = began + ownInserts;
    for (const trace of traces) if (this.#noted?.add(hashOf(trace)) === true) this.#count++;
    if (this.#count > this.#limits.maxNotes) this.#forget();
  }

  async #read(): Promise<void> {
    const began = this.#now();
    if (began === undefined) return;
    const noted = new BloomFilter(Math.ceil(Math.log2(this.#limits.maxNotes * BITS_PER_NOTE)));
    const hashes = viewOf(await readHashes(this.#engine, this.#limits.maxNotes + 1));
    const count = hashes.byteLength / HASH_BYTES;
    if (count > this.#limits.maxNotes) return;
    for (let at = 0; at < count; at++) {
      if (at % HASHES_PER_TURN === HASHES_PER_TURN - 1) await setImmediate();
      noted.add(hashes.getUint32(at * HASH_BYTES, true));
    }
    this.#noted = noted;
    this.#count = count;
    this.#state = began;
  }

  #forget(): void {
    this.#noted = undefined;
    this.#count = 0;
    this.#state = undefined;
  }

  #now(): TableState {
    return this.#engine.changesOf("trace_hours");
  }
}

const HASH_BYTES = 4;

/** As the engine's `CRC32`. */
function hashOf({ project_id, trace_id }: TraceKey): number {
  return crc32(`${project_id}/${trace_id}`);
}

async function countNotes(engine: Engine): Promise<number> {
  const rows = await engine.rows<{ notes: number }>(sql`SELECT count() AS notes FROM trace_hours`, {
    name: "trace_hours_count",
    limits: "ingest",
  });
  return rows[0]!.notes;
}

function readHashes(engine: Engine, max: number): Promise<Buffer> {
  return engine.bytes(
    sql`SELECT CRC32(concat(project_id, '/', trace_id)) FROM trace_hours LIMIT ${param("UInt32", max)}`,
    "RowBinary",
    { name: "trace_hours_hash", limits: "ingest" },
  );
}
