import type { Engine } from "../../store/engine.ts";
import { TableMemory } from "../../store/table-memory.ts";
import { param, sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { CallRow } from "./note-calls.ts";
import { chunksOf } from "./trace-lookup.ts";

/** Under `hour` lie calls that started, or ended, in `at_hour`. */
interface HourNote {
  readonly project_id: Project;
  readonly kind: "started" | "ended";
  readonly at_hour: number;
  readonly hour: number;
}

/** Of the text of an instant, up to its hour. */
const HOUR_LENGTH = "2026-01-01 00".length;
const HOURS_PER_QUERY = 2000;
const MAX_REMEMBERED = 100_000;

/**
 * Notes in which hours calls start and end, unless the store has that note: most calls are of an hour that others have
 * noted. Where other processes write to the store, it is asked each time: one of them may have deleted the note with
 * its project.
 */
export function createHourNotes(engine: Engine): (rows: readonly CallRow[]) => Promise<void> {
  const memory = new TableMemory<true>(engine, "call_hours", MAX_REMEMBERED);
  return async (rows) => {
    const began = memory.begin();
    const unsure = [...notesOf(rows)].filter(([text]) => memory.get(text) === undefined);
    const noted = await findNoted(
      engine,
      unsure.map(([, note]) => note),
    );
    const missing = unsure.flatMap(([text, note]) => (noted.has(text) ? [] : [note]));
    await engine.insert("call_hours", missing, { name: "call_hours_add" });
    memory.learn(
      began,
      missing.length > 0 ? 1 : 0,
      unsure.map(([text]) => [text, true]),
    );
  };
}

/** Each once, by `noteText`. */
function notesOf(rows: readonly CallRow[]): ReadonlyMap<string, HourNote> {
  const notes = new Map<string, HourNote>();
  // rows next to each other are mostly of one hour
  const last = { started: "", ended: "" };
  const add = ({ project_id, hour }: CallRow, kind: HourNote["kind"], at: unknown): void => {
    const text = String(at);
    const key = `${text.slice(0, HOUR_LENGTH)} ${hour} ${project_id}`;
    if (key === last[kind]) return;
    last[kind] = key;
    const note = { project_id, kind, at_hour: hourOfText(text), hour };
    notes.set(noteText(note), note);
  };
  for (const row of rows) {
    if (row.started_at != null) add(row, "started", row.started_at);
    if (row.ended_at != null) add(row, "ended", row.ended_at);
  }
  return notes;
}

/** Those notes that the store has, among others, as `noteText`. */
async function findNoted(engine: Engine, notes: readonly HourNote[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const chunk of chunksOf(notes, HOURS_PER_QUERY)) {
    const distinct = <Value>(valueOf: (note: HourNote) => Value): Value[] => [...new Set(chunk.map(valueOf))];
    const rows = await engine.rows<HourNote>(
      sql`SELECT DISTINCT project_id, kind, at_hour, hour FROM call_hours
          WHERE project_id IN ${param(
            "Array(String)",
            distinct((note) => note.project_id),
          )} AND at_hour IN ${param(
            "Array(Int64)",
            distinct((note) => note.at_hour),
          )} AND hour IN ${param(
            "Array(Int64)",
            distinct((note) => note.hour),
          )}`,
      { name: "call_hours_noted", limits: "ingest", mustBeCurrent: true },
    );
    for (const row of rows) found.add(noteText(row));
  }
  return found;
}

function noteText({ project_id, kind, at_hour, hour }: HourNote): string {
  return `${kind} ${at_hour} ${hour} ${project_id}`;
}

/** `text`: an instant as the store writes it. */
function hourOfText(text: string): number {
  return Date.parse(`${text.slice(0, 10)}T${text.slice(11, 13)}:00:00Z`) / 3_600_000;
}
