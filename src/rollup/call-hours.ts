import type { Engine, QueryOptions } from "../store/engine.ts";
import { TableMemory } from "../store/table-memory.ts";
import { notedIn, type HourRange } from "../query/index.ts";
import { param, sql } from "../query/sql.ts";
import { pairKey } from "../shared/pair-key.ts";
import type { Project } from "../shared/project.ts";

export interface NotedHours {
  readonly kind: "started" | "ended";
  readonly range: HourRange;
  /** The first ones; default: all. */
  readonly limit?: number;
}

/** About as many bytes. */
const MAX_REMEMBERED = 4_000_000;
const OF_ANY = 500;

/** The hours under which calls lie, as long as nobody notes others (`TableMemory`). */
export class CallHours {
  readonly memory: TableMemory<readonly number[]>;
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.memory = new TableMemory(engine, "call_hours", MAX_REMEMBERED, (hours) => OF_ANY + 8 * hours.length);
  }

  /** Of the calls that started or ended in some hours, in their order. Never of a replica that may lack some. */
  read(
    project: Project,
    { kind, range, limit }: NotedHours,
    options: Pick<QueryOptions, "name" | "signal">,
  ): Promise<readonly number[]> {
    const limited = limit === undefined ? sql`` : sql`LIMIT ${param("UInt32", limit)}`;
    return this.memory.read(pairKey(project, `${kind} ${range.from} ${range.to} ${limit}`), async () => {
      const rows = await this.#engine.rows<{ hour: number }>(
        sql`SELECT DISTINCT hour FROM call_hours WHERE ${notedIn(project, kind, range)}
            ORDER BY hour ${limited}`,
        { ...options, limits: "heavy", mustBeCurrent: true },
      );
      return rows.map(({ hour }) => hour);
    });
  }
}
