import { createHash } from "node:crypto";
import type { Engine } from "../clickhouse/engine.ts";
import { param, sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { CallPart } from "./call-part.ts";
import { chunksOf, type CallKey } from "./trace-lookup.ts";

/** A part whose call has not started as far as the store knows. */
export interface ParkedPart {
  readonly project: Project;
  readonly part: CallPart;
}

interface ParkedRow {
  readonly project_id: Project;
  readonly id: string;
  readonly kind: CallPart["kind"];
  readonly columns: string;
}

const IDS_PER_QUERY = 2000;

export async function park(engine: Engine, parked: readonly ParkedPart[]): Promise<void> {
  await engine.insert(
    "parked_parts",
    parked.map((one) => toRow(one, 0)),
    { name: "parked_parts_add" },
  );
}

/** Marks parts as written to their calls, so that nobody writes them again. */
export async function unpark(engine: Engine, parked: readonly ParkedPart[]): Promise<void> {
  await engine.insert(
    "parked_parts",
    parked.map((one) => toRow(one, 1)),
    { name: "parked_parts_resolve" },
  );
}

export async function findParked(engine: Engine, keys: readonly CallKey[]): Promise<readonly ParkedPart[]> {
  const asked = new Map<Project, Set<string>>();
  for (const key of keys) asked.set(key.project, (asked.get(key.project) ?? new Set()).add(key.id));
  const found: ParkedPart[] = [];
  for (const chunk of chunksOf(keys, IDS_PER_QUERY)) {
    const rows = await engine.rows<ParkedRow>(
      sql`SELECT project_id, id, kind, columns FROM parked_parts FINAL
          PREWHERE project_id IN ${param("Array(String)", [...new Set(chunk.map((key) => key.project))])}
            AND id IN ${param(
              "Array(String)",
              chunk.map((key) => key.id),
            )}
          WHERE resolved = 0 ORDER BY parked_at`,
      { name: "parked_parts_find", limits: "ingest" },
    );
    for (const row of rows) if (asked.get(row.project_id)?.has(row.id)) found.push(fromRow(row));
  }
  return found;
}

/** Parked parts whose call is known by now: what a writer that died between two steps has left behind. */
export async function findForgotten(engine: Engine, limit: number): Promise<readonly ParkedPart[]> {
  const rows = await engine.rows<ParkedRow>(
    sql`SELECT project_id, id, kind, columns FROM parked_parts FINAL
        WHERE resolved = 0 AND (project_id, id) IN
          (SELECT project_id, id FROM call_traces
           WHERE (project_id, id) IN (SELECT project_id, id FROM parked_parts FINAL WHERE resolved = 0))
        ORDER BY parked_at LIMIT ${param("UInt32", limit)}`,
    { name: "parked_parts_forgotten", limits: "maintenance" },
  );
  return rows.map(fromRow);
}

function toRow({ project, part }: ParkedPart, resolved: 0 | 1) {
  const columns = JSON.stringify(part.columns);
  return {
    project_id: project,
    id: part.id,
    kind: part.kind,
    columns_hash: createHash("sha256").update(columns).digest("hex"),
    // a resolved part's columns stand in its call
    columns: resolved === 1 ? "{}" : columns,
    resolved,
  };
}

function fromRow(row: ParkedRow): ParkedPart {
  const columns = JSON.parse(row.columns) as CallPart["columns"];
  return { project: row.project_id, part: { id: row.id, kind: row.kind, traceId: undefined, columns } };
}
