import type { Engine } from "../clickhouse/engine.ts";
import type { Project } from "../shared/project.ts";

/** A row to write to `calls`. */
export interface CallRow {
  readonly project_id: Project;
  readonly trace_id: string;
  readonly id: string;
  readonly hour: number;
  readonly started_at?: unknown;
  readonly ended_at?: unknown;
}

/**
 * Notes where calls will be stored, before they are written: every stored call is noted, though a noted call may not be
 * stored. `call_traces` maps a call's id to its trace and hour, and `call_hours` an hour to the key hours of the calls
 * that started or ended in it. `noteTraces` has noted their traces.
 */
export async function noteCalls(engine: Engine, rows: readonly CallRow[]): Promise<void> {
  const started = rows.filter((row) => row.started_at != null);
  const ended = rows.filter((row) => row.ended_at != null);
  const hours = new Map<string, object>();
  const addHour = ({ project_id, hour }: CallRow, kind: "started" | "ended", at: unknown): void => {
    const text = String(at);
    const key = `${kind} ${text.slice(0, 13)} ${hour} ${project_id}`;
    if (!hours.has(key)) hours.set(key, { project_id, kind, at_hour: hourOfText(text), hour });
  };
  for (const row of started) addHour(row, "started", row.started_at);
  for (const row of ended) addHour(row, "ended", row.ended_at);
  await Promise.all([
    engine.insert(
      "call_traces",
      started.map(({ project_id, id, trace_id, hour }) => ({ project_id, id, trace_id, hour })),
      { name: "call_traces_add" },
    ),
    engine.insert("call_hours", [...hours.values()], { name: "call_hours_add" }),
  ]);
}

/** `text`: an instant as the store writes it. */
function hourOfText(text: string): number {
  return Date.parse(`${text.slice(0, 10)}T${text.slice(11, 13)}:00:00Z`) / 3_600_000;
}
