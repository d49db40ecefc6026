import { oneOf } from "../../ledger/hour.ts";
import type { SettledHour } from "../../ledger/settled-hours.ts";
import { join, param, sql, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";

/** Entries that are read with one statement. */
const ENTRIES_PER_READ = 2_000_000;

/** Some settlements at a time. */
export function inReads(settled: readonly SettledHour[]): readonly (readonly SettledHour[])[] {
  const reads: SettledHour[][] = [];
  let room = 0;
  for (const hour of settled) {
    if (room < hour.entries || reads.length === 0) {
      reads.push([]);
      room = ENTRIES_PER_READ;
    }
    reads.at(-1)!.push(hour);
    room -= hour.entries;
  }
  return reads;
}

/** A condition: the rows of some settlements. */
export function rowsOf(project: Project, settled: readonly SettledHour[]): Sql {
  const grains = [...Map.groupBy(settled, ({ grain }) => grain).values()];
  return sql`project_id = ${param("String", project)} AND (${join(grains.map(ofOneGrain), " OR ")})`;
}

function ofOneGrain(settled: readonly SettledHour[]): Sql {
  const settlements = [...new Set(settled.map(({ settlement }) => settlement))];
  return sql`(grain = ${param("UInt32", settled[0]!.grain)} AND ${oneOf([...new Set(settled.map(({ hour }) => hour))])}
    AND settlement IN ${param("Array(String)", settlements)})`;
}
