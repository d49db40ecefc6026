import { LRUCache } from "lru-cache";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import { param, sql } from "../query/sql.ts";
import type { Limit } from "./budget.ts";
import { decimalUsd, parseUsd } from "./usd.ts";

/** Limits that requests have sent for their trace. */
export interface TraceLimitStore {
  /** The tightest limits of a trace; undefined if none was sent. Errors: `StorageError`. */
  of(project: Project, traceId: string): Promise<Limit | undefined>;
  /** True if a limit of a trace was read or sent in this process lately. */
  isLimited(project: Project, traceId: string): boolean;
  /** Adds limits; returns the tightest ones when they are durable. */
  tighten(project: Project, traceId: string, limit: Limit): Promise<Limit>;
}

/** Age of what is known at which a store with other writers is read again. */
const MAX_AGE_MS = 1000;
const MAX_TRACES = 20_000;
const TABLE = "trace_limits";

interface Known {
  readonly limit: Limit | undefined;
  readonly readAtMs: number;
}

export function createTraceLimitStore(engine: Engine, steady: Clock): TraceLimitStore {
  const traces = new LRUCache<string, Known>({ max: MAX_TRACES });
  /** Projects in which any trace has a limit. */
  let projects: ReadonlySet<string> | undefined;
  let projectsReadAtMs = 0;
  const isShared = (): boolean => engine.writeCountOf(TABLE) === undefined;
  const isOld = (readAtMs: number): boolean => isShared() && steady.now() - readAtMs >= MAX_AGE_MS;

  const hasAny = async (project: Project): Promise<boolean> => {
    if (projects?.has(project) === true) return true;
    if (projects !== undefined && !isOld(projectsReadAtMs)) return false;
    const readAtMs = steady.now();
    const rows = await engine.rows<{ project_id: string }>(
      sql`SELECT DISTINCT project_id FROM trace_limits`,
      { name: "trace_limit_projects", limits: "ingest" },
    );
    projects = new Set([...(projects ?? []), ...rows.map(({ project_id }) => project_id)]);
    projectsReadAtMs = readAtMs;
    return projects.has(project);
  };
  const find = async (project: Project, traceId: string): Promise<Limit | undefined> => {
    const key = `${project}\n${traceId}`;
    const known = traces.get(key);
    if (known !== undefined && !isOld(known.readAtMs)) return known.limit;
    if (!(await hasAny(project))) return undefined;
    const readAtMs = steady.now();
    const [row] = await engine.rows<{ usd: string | null; tokens: number | null; requests: number | null }>(
      sql`SELECT toString(min(limit_usd)) AS usd, min(limit_tokens) AS tokens, min(limit_requests) AS requests
          FROM trace_limits
          WHERE project_id = ${param("String", project)} AND trace_id = ${param("String", traceId)}
          GROUP BY trace_id`,
      { name: "trace_limit_find", limits: "ingest" },
    );
    const limit = row && { ...row, usd: row.usd === null ? null : parseUsd(row.usd) };
    traces.set(key, { limit, readAtMs });
    return limit;
  };
  return {
    of: find,
    isLimited: (project, traceId) => traces.get(`${project}\n${traceId}`)?.limit !== undefined,
    async tighten(project, traceId, limit) {
      const old = await find(project, traceId);
      const tightest = old === undefined ? limit : tighter(old, limit);
      if (old !== undefined && isSame(old, tightest)) return old;
      const row = {
        project_id: project,
        trace_id: traceId,
        limit_usd: limit.usd === null ? null : decimalUsd(limit.usd),
        limit_tokens: limit.tokens,
        limit_requests: limit.requests,
      };
      await engine.insert(TABLE, [row], { name: "trace_limit_add" });
      projects = new Set([...(projects ?? []), project]);
      traces.set(`${project}\n${traceId}`, { limit: tightest, readAtMs: steady.now() });
      return tightest;
    },
  };
}

/** The smaller limit of each unit. */
function tighter(one: Limit, other: Limit): Limit {
  const least = <Amount extends bigint | number>(a: Amount | null, b: Amount | null): Amount | null =>
    a === null || (b !== null && b < a) ? b : a;
  return {
    usd: least(one.usd, other.usd),
    tokens: least(one.tokens, other.tokens),
    requests: least(one.requests, other.requests),
  };
}

function isSame(one: Limit, other: Limit): boolean {
  return one.usd === other.usd && one.tokens === other.tokens && one.requests === other.requests;
}
