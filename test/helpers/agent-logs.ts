import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CallEvent } from "../../src/calls/events/call-event.ts";
import { namesIn, reportOf } from "../../src/calls/events/report-names.ts";
import { eventOfLog } from "../../src/ingest/otlp/agents/event-of-log.ts";
import type { OtelLogRecord } from "../../src/ingest/otlp/log-record.ts";
import type { SpanOrigin } from "../../src/ingest/otlp/span.ts";
import { unflatten } from "../../src/ingest/otlp/unflatten.ts";
import type { Project } from "../../src/shared/project.ts";
import { statedUsdOf } from "../../src/usage/stated-cost.ts";
import { decodeUsage } from "../../src/usage/usage-column.ts";

export type Values = Readonly<Record<string, unknown>>;
/** A record and its sender. */
export type SentLog = readonly [record: OtelLogRecord, origin: SpanOrigin];

const FOLDER = join(import.meta.dirname, "../fixtures/agents");
export const PROJECT = "acme/agents" as Project;

interface JsonAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Reads the records of a file in `test/fixtures/agents`. */
export function fixtureLogs(agent: string): readonly SentLog[] {
  const text = readFileSync(join(FOLDER, `${agent}.json`), "utf8");
  const { resourceLogs } = JSON.parse(text) as {
    resourceLogs: { resource: { attributes: JsonAttribute[] }; scopeLogs: JsonScope[] }[];
  };
  return resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ scope, logRecords }) =>
      logRecords.map((record) => {
        const origin = originOf(Object.fromEntries(valuesOf(resource.attributes)), scope.name);
        return [recordOf(record), origin] as const;
      }),
    ),
  );
}

interface JsonScope {
  readonly scope: { readonly name: string };
  readonly logRecords: JsonRecord[];
}
interface JsonRecord {
  readonly timeUnixNano?: string;
  readonly observedTimeUnixNano?: string;
  readonly eventName?: string;
  readonly body?: { readonly stringValue: string };
  readonly attributes: readonly JsonAttribute[];
  readonly traceId?: string;
  readonly spanId?: string;
}

function recordOf(json: JsonRecord): OtelLogRecord {
  return {
    atNanos: BigInt(json.timeUnixNano ?? 0),
    observedAtNanos: BigInt(json.observedTimeUnixNano ?? 0),
    eventName: json.eventName ?? "",
    body: json.body?.stringValue ?? null,
    attributes: valuesOf(json.attributes),
    traceId: json.traceId ?? "",
    spanId: json.spanId ?? "",
  };
}

function valuesOf(attributes: readonly JsonAttribute[]): ReadonlyMap<string, unknown> {
  return new Map(
    attributes.map(({ key, value }) => [
      key,
      "intValue" in value ? Number(value["intValue"]) : Object.values(value)[0],
    ]),
  );
}

export function originOf(resource: Values, scopeName = ""): SpanOrigin {
  const entries = new Map(Object.entries(resource));
  return { resource: entries, nestedResource: unflatten(entries), scopeName, scopeVersion: "" };
}

/** The record with other attributes or members; `undefined` removes an attribute. */
export function changed(
  [record, origin]: SentLog,
  attributes: Values,
  members: Partial<OtelLogRecord> = {},
): SentLog {
  const all = { ...Object.fromEntries(record.attributes), ...attributes };
  const present = Object.entries(all).filter(([, value]) => value !== undefined);
  return [{ ...record, attributes: new Map(present), ...members }, origin];
}

export function read([record, origin]: SentLog, keepsContent = false): CallEvent | string | undefined {
  return eventOfLog(record, origin, { project: PROJECT, apiKey: "a-key", keepsContent });
}

/** A call event with its payloads parsed. */
export function storedEvent(event: CallEvent | string | undefined): Record<string, unknown> & { id: string } {
  if (event === undefined || typeof event === "string") throw new Error(`no call: ${String(event)}`);
  const { id, traceId, columns } = event;
  const reports = namesIn(columns["reports"]).map(reportOf);
  const parse = (name: string): unknown =>
    name in columns ? (JSON.parse(columns[name] as string) as unknown) : undefined;
  const [usage] = decodeUsage((columns["usage"] as string | undefined) ?? "");
  return {
    ...columns,
    id,
    traceId,
    attributes: parse("attributes"),
    inputs: parse("inputs"),
    output: parse("output"),
    usage,
    cost: statedUsdOf(usage?.units),
    reports: reports.length === 0 ? undefined : reports.map(({ request, rank }) => [request, rank]),
  };
}
