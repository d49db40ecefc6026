import { oneOf } from "../../ledger/hour.ts";
import type { SettledHour } from "../../ledger/settled-hours.ts";
import { join, param, sql, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";

/** Some settlements at a time, with at most so many entries, unless it is one. */
export function inReads(
  settled: readonly SettledHour[],
  entriesPerRead: number,
): readonly (readonly SettledHour[])[] {
  const reads: SettledHour[][] = [];
  let room = 0;
  for (const hour of settled) {
    if (room < hour.entries || reads.length === 0) {
      reads.push([]);
      room = entriesPerRead;
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
