import type { Engine } from "../../store/engine.ts";
import type { Project } from "../../shared/project.ts";
import type { CallRow } from "../storage-key/key-lookup.ts";
import type { RoutedEvent } from "../storage-key/resolve-keys.ts";
import { ELSEWHERE, reportersOf, type Reporter } from "./find-reports.ts";
import { betterThan, namesIn, worseThan } from "../events/report-names.ts";

/** Event that reports requests, with its names. */
interface Report extends Reporter {
  readonly project: Project;
  readonly item: RoutedEvent;
}

/** Selects the events of a batch that report requests. */
export function reportsAmong(items: readonly RoutedEvent[]): readonly Report[] {
  return items.flatMap((item) => {
    const { project, event, traceId, hour } = item;
    const names = namesIn(event.columns["reports"]);
    if (names.length === 0 || traceId === undefined || hour === undefined) return [];
    const completionId = String(event.columns["completion_id"] ?? "");
    return [{ project, item, id: event.id, traceId, hour, completionId, names }];
  });
}

/** Builds the index entries of reports: their names, by which others find the traces. */
export function nameRows(reports: readonly Report[]): readonly CallRow[] {
  return reports.flatMap(({ project, traceId, hour, names }) =>
    names.map((id) => ({ project_id: project, trace_id: traceId, hour, id })),
  );
}

/** Finds the reports whose requests have a better one, in the batch or in the store. */
export async function findSuperseded(
  engine: Engine,
  reports: readonly Report[],
): Promise<ReadonlySet<RoutedEvent>> {
  const superseded = new Set<RoutedEvent>();
  for (const [project, own] of Map.groupBy(reports, (report) => report.project)) {
    const open = byNames(own, betterThan);
    const compare = (found: readonly Reporter[]): void => {
      for (const [report, better] of pairs(found, open))
        if (isOtherReport(better, report)) superseded.add(report.item);
    };
    compare(own);
    for await (const found of reportersOf(engine, project, [...open.keys()], "any")) {
      compare(found);
      if (own.every(({ item }) => superseded.has(item))) break;
    }
  }
  return superseded;
}

/** Finds stored calls that count, but have a better report in the batch: rows that say so, in lists of bounded length. */
export async function* supersededRows(
  engine: Engine,
  reports: readonly Report[],
): AsyncGenerator<readonly CallRow[]> {
  for (const [project, own] of Map.groupBy(reports, (report) => report.project)) {
    const open = byNames(own, worseThan);
    for await (const found of reportersOf(engine, project, [...open.keys()], "counted")) {
      const worse = pairs(found, open).flatMap(([report, stored]) =>
        isOtherReport(report, stored) ? [stored] : [],
      );
      yield [...new Set(worse)].map(({ id, traceId, hour }) => elsewhereRow(project, { id, traceId, hour }));
    }
  }
}

/** Row of a call that counts elsewhere. */
export function elsewhereRow(
  project: Project,
  { id, traceId, hour }: Pick<Reporter, "id" | "traceId" | "hour">,
): CallRow & { readonly usage_source: number } {
  return { project_id: project, hour, trace_id: traceId, id, usage_source: ELSEWHERE };
}

function byNames(
  reports: readonly Report[],
  others: (name: string) => readonly string[],
): ReadonlyMap<string, readonly Report[]> {
  const byName = new Map<string, Report[]>();
  for (const report of reports)
    for (const name of new Set(report.names.flatMap(others))) {
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [report]);
      else known.push(report);
    }
  return byName;
}

function pairs(
  found: readonly Reporter[],
  open: ReadonlyMap<string, readonly Report[]>,
): readonly (readonly [Report, Reporter])[] {
  return found.flatMap((one) =>
    one.names.flatMap((name) => (open.get(name) ?? []).map((report) => [report, one] as const)),
  );
}

/** True unless the fold of their trace compares the two, as reports of one completion. */
function isOtherReport(one: Reporter, other: Reporter): boolean {
  return one.traceId !== other.traceId || one.completionId === "" || one.completionId !== other.completionId;
}
