import type { TrainingJob } from "../api/routes.ts";
import { counted } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";

/** Event of a training job, as the training service sent it. */
export interface JobEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Ordinal of the gradient step, from 1; 0 for other events before the first. */
  readonly step: number;
}

/** A page of events. */
export interface EventPage {
  readonly events: readonly Omit<JobEvent, "step">[];
  readonly isMore: boolean;
}

/** A metric over the gradient steps. */
export interface MetricLine {
  readonly name: string;
  /** By gradient step; null where it was not reported. */
  readonly values: readonly (number | null)[];
  readonly first: number;
  readonly last: number;
}

const STEP = "gradient_step";
const MAX_METRICS = 200;
const MAX_LINES = 8;

/** Reads the response of the training service. Items that are no events are left out. */
export function readEventPage(body: unknown): EventPage {
  const { data, has_more } = objectOf(body);
  const items = Array.isArray(data) ? data.map(objectOf) : [];
  const events = items.flatMap(({ id, type, data: facts }) =>
    typeof id === "string" && typeof type === "string" ? [{ id, type, data: objectOf(facts) }] : [],
  );
  return { events, isMore: has_more !== false && events.length > 0 };
}

/** Appends a page: a training service may send an event again. */
export function appendEvents(known: readonly JobEvent[], { events }: EventPage): readonly JobEvent[] {
  const ids = new Set(known.map(({ id }) => id));
  const all = [...known];
  for (const event of events) {
    if (ids.has(event.id)) continue;
    ids.add(event.id);
    const before = all.at(-1)?.step ?? 0;
    all.push({ ...event, step: event.type === STEP ? before + 1 : before });
  }
  return all;
}

/** True once an event has told the end of the job. */
export function isOver(events: readonly JobEvent[]): boolean {
  return events.some(({ type }) => type === "training_ended" || type === "training_failed");
}

/** Metrics of the gradient steps, in the order of their first value. */
export function linesOf(events: readonly JobEvent[]): readonly MetricLine[] {
  const steps = events.filter(({ type }) => type === STEP);
  const lines = new Map<string, (number | null)[]>();
  for (const [at, { data }] of steps.entries())
    for (const [name, value] of Object.entries(data)) {
      if (name === STEP || typeof value !== "number" || !Number.isFinite(value)) continue;
      const isFit = lines.has(name) || lines.size < MAX_METRICS;
      if (!isFit) continue;
      const values = lines.get(name) ?? Array.from(steps, () => null);
      values[at] = value;
      lines.set(name, values);
    }
  return [...lines].map(([name, values]) => {
    const known = values.filter((value) => value !== null);
    return { name, values, first: known[0]!, last: known.at(-1)! };
  });
}

/** The lines to draw: of the metrics that changed, the first ones. */
export function drawnOf(lines: readonly MetricLine[]): readonly MetricLine[] {
  return lines.filter(({ values }) => new Set(values).size > 1).slice(0, MAX_LINES);
}

/** Says what an event means. */
export function wordsOf({ type, data, step }: JobEvent): string {
  const { num_sequences: sequences, error_message: error } = data;
  if (type === STEP) return `step ${step}`;
  if (type === "training_started")
    return `started${typeof sequences === "number" ? `, ${counted(sequences, "sequence")}` : ""}`;
  if (type === "training_ended") return "ended";
  if (type === "training_failed") return `failed${typeof error === "string" ? `: ${oneLine(error)}` : ""}`;
  return oneLine(type.replaceAll("_", " "), 80);
}

/** Last values of the metrics that are not drawn: those of the events, or else those of the ledger. */
export function otherMetrics(
  { metrics }: Pick<TrainingJob, "metrics">,
  { lines, drawn }: { readonly lines: readonly MetricLine[]; readonly drawn: readonly MetricLine[] },
): readonly (readonly [name: string, value: number])[] {
  const last = new Map([...Object.entries(metrics), ...lines.map((line) => [line.name, line.last] as const)]);
  for (const { name } of drawn) last.delete(name);
  if (drawn.length > 0) last.delete(STEP);
  return [...last];
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
