import { parseInstant } from "../shared/instant.ts";
import { isJsonObject, parseOrUndefined, stringifyJson } from "../shared/json.ts";
import { statedTicksIn, statedUnitsOf, statedUsdOf } from "../usage/stated-cost.ts";
import { versions, type Checkpoint, type Job } from "./job.ts";

/** Response of the upstream; its body if it is JSON. `undefined`: none. */
export type Answer = { readonly status: number; readonly body: unknown } | "too_long" | undefined;

interface End {
  readonly status: "completed" | "failed";
  readonly error: string | null;
  readonly atUs: number;
  /** When it was seen, in ms. */
  readonly seenMs: number;
}

/** State of following a job: the next read, and the facts that it needs. */
export interface Course {
  readonly read: "events" | "job" | "checkpoints";
  /** Id of the last item read. */
  readonly after: string;
  readonly limit: number;
  /** Highest step of the model when the job was created; null if not known. */
  readonly base: number | null;
  readonly end: End | null;
}

/** A course's next state, and if there is more to read at once. */
export interface Advanced {
  readonly job: Job;
  readonly isMore: boolean;
}

type Json = Readonly<Record<string, unknown>>;

const PAGE = 100;
const MAX_METRICS = 200;
const MAX_NAME_CHARS = 200;
const MAX_ERROR_CHARS = 4096;
const MAX_CHECKPOINTS = 1000;
/** The end of a job waits so long for reads that tell more of it. */
const PATIENCE_MS = 3_600_000;

export function newCourse(base: number | null): string {
  return stringifyJson({ read: "events", after: "", limit: PAGE, base, end: null } satisfies Course);
}

export function courseOf({ course }: Job): Course {
  return parseOrUndefined(course) as Course;
}

export function checkpointsOf({ checkpoints }: Pick<Job, "checkpoints">): readonly Checkpoint[] {
  return parseOrUndefined(checkpoints) as readonly Checkpoint[];
}

/** Returns path and query of what is read next, under the training service's URL. */
export function pathOf(job: Job): string {
  const { read, after, limit } = courseOf(job);
  const path = `/preview/training-jobs/${encodeURIComponent(job.id)}`;
  if (read === "job") return path;
  const query = `limit=${limit}${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`;
  if (read === "events") return `${path}/events?${query}`;
  return `${checkpointsPath(job.model_id ?? "")}?order=desc&${query}`;
}

export function checkpointsPath(modelId: string): string {
  return `/preview/models/${encodeURIComponent(modelId)}/checkpoints`;
}

/** Returns the highest step of a page of checkpoints, 0 of an empty one; null if it is no such page. */
export function highestStepIn(body: unknown): number | null {
  const page = pageOf(body);
  return page === undefined ? null : Math.max(0, ...page.items.flatMap((item) => stepOf(item) ?? []));
}

/** Folds a response into a job. What is odd in it is ignored. */
export function advance(job: Job, answer: Answer, nowMs: number): Advanced {
  const course = courseOf(job);
  const next = nextOf(job, answer, nowMs);
  if (next !== undefined) return next;
  const { end } = course;
  if (end !== null && nowMs - end.seenMs > PATIENCE_MS) return { job: ended(job, end), isMore: false };
  const limit = answer === "too_long" ? Math.max(1, Math.floor(course.limit / 10)) : course.limit;
  return withCourse(job, { ...course, limit }, limit < course.limit);
}

/** Undefined if the response tells nothing. */
function nextOf(job: Job, answer: Answer, nowMs: number): Advanced | undefined {
  if (answer === undefined || answer === "too_long") return undefined;
  const { status, body } = answer;
  const { read, ...course } = courseOf(job);
  const isMissing = status === 404;
  if (read === "checkpoints") {
    if (isMissing) return { job: ended(job, course.end!), isMore: false };
    return status === 200 ? afterCheckpoints(job, body) : undefined;
  }
  if (read === "job") {
    if (course.end !== null && (status === 200 || isMissing)) return afterJob(job, body, isMissing);
    if (isMissing) return { job: lost(job, nowMs), isMore: false };
    return status === 200 ? withCourse(job, { ...course, read: "events" }, false) : undefined;
  }
  if (status === 200) return afterEvents(job, body, nowMs);
  // it may have lost the event, and then it has others
  if ((status === 400 || status === 422) && course.after !== "")
    return withCourse(job, { ...course, read, after: "" }, false);
  // one response may err: only both together tell that the job is gone
  return isMissing ? withCourse(job, { ...course, read: "job" }, true) : undefined;
}

function afterEvents(job: Job, body: unknown, nowMs: number): Advanced | undefined {
  const page = pageOf(body);
  if (page === undefined) return undefined;
  const course = courseOf(job);
  const metrics = new Map(Object.entries(parseOrUndefined(job.metrics) as object));
  let { status, stated_cost } = job;
  let end: End | null = null;
  for (const { type, data } of page.items) {
    const facts = isJsonObject(data) ? data : {};
    if (type === "training_started" || type === "gradient_step") status = "running";
    if (type === "gradient_step") addMetrics(metrics, facts);
    if (type !== "training_ended" && type !== "training_failed") continue;
    const hasFailed = type === "training_failed";
    const error = hasFailed ? textIn(facts["error_message"]) : null;
    end = { status: hasFailed ? "failed" : "completed", error, atUs: nowMs * 1000, seenMs: nowMs };
    stated_cost = costIn(facts) ?? stated_cost;
    break;
  }
  const after = page.lastId ?? course.after;
  const changed = { ...job, status, stated_cost, metrics: stringifyJson(Object.fromEntries(metrics)) };
  if (end !== null) return withCourse(changed, { ...course, read: "job", after: "", limit: PAGE, end }, true);
  return withCourse(changed, { ...course, after, limit: PAGE }, page.hasMore && after !== course.after);
}

function addMetrics(metrics: Map<string, unknown>, facts: Json): void {
  for (const [name, value] of Object.entries(facts)) {
    const isKnown = metrics.has(name) || metrics.size < MAX_METRICS;
    const isFit = isKnown && name.length <= MAX_NAME_CHARS && name !== "__proto__";
    if (isFit && typeof value === "number" && Number.isFinite(value)) metrics.set(name, value);
  }
}

function afterJob(job: Job, body: unknown, isMissing: boolean): Advanced {
  const course = courseOf(job);
  const facts: Json = isJsonObject(body) && !isMissing ? body : {};
  const { training_end: at, error_message: error } = facts;
  const atUs = (typeof at === "string" && parseInstant(at)) || course.end!.atUs;
  const end = { ...course.end!, atUs, error: course.end!.error ?? failureIn(course.end!, error) };
  const forgotten = isMissing ? 1 : job.forgotten;
  const told = { ...job, forgotten, stated_cost: job.stated_cost ?? costIn(facts) } as const;
  if (job.model_id === null) return { job: ended(told, end), isMore: false };
  return withCourse(told, { ...course, read: "checkpoints", end }, true);
}

function failureIn({ status }: End, error: unknown): string | null {
  return status === "failed" ? textIn(error) : null;
}

function afterCheckpoints(job: Job, body: unknown): Advanced | undefined {
  const page = pageOf(body);
  if (page === undefined) return undefined;
  const course = courseOf(job);
  const base = course.base ?? 0;
  const known = new Map(checkpointsOf(job).map((one) => [one.id, one]));
  const llm = job.output_model && `wandb-artifact:///${job.output_model}`;
  const steps = page.items.map(stepOf);
  for (const [at, { id }] of page.items.entries()) {
    const step = steps[at];
    if (typeof id !== "string" || step === undefined || step <= base || known.size >= MAX_CHECKPOINTS)
      continue;
    known.set(id, { id, step, llm: llm && `${llm}:step${step}` });
  }
  const after = page.lastId ?? course.after;
  const checkpoints = [...known.values()].toSorted((one, other) => one.step - other.step);
  const listed = { ...job, checkpoints: stringifyJson(checkpoints) };
  const isBelow = steps.some((step) => step !== undefined && step <= base);
  const isMore = page.hasMore && !isBelow && after !== course.after && known.size < MAX_CHECKPOINTS;
  if (isMore) return withCourse(listed, { ...course, after, limit: PAGE }, true);
  return { job: ended(listed, course.end!), isMore: false };
}

function withCourse(job: Job, course: Course, isMore: boolean): Advanced {
  return { job: { ...job, course: stringifyJson(course) }, isMore };
}

function ended(job: Job, { status, error, atUs, seenMs }: End): Job {
  return { ...job, status, error, ended_at_us: atUs, version: versions.ended(seenMs) };
}

function lost(job: Job, nowMs: number): Job {
  const end = { ended_at_us: nowMs * 1000, version: versions.ended(nowMs) };
  return { ...job, status: "unknown", forgotten: 1, error: "The training service has forgotten it.", ...end };
}

function pageOf(body: unknown) {
  if (!isJsonObject(body) || !Array.isArray(body["data"])) return undefined;
  const items = body["data"].filter(isJsonObject);
  const lastId = items.map(({ id }) => id).findLast((id): id is string => typeof id === "string");
  return { items, lastId, hasMore: body["has_more"] !== false && items.length > 0 };
}

function stepOf({ step }: Json): number | undefined {
  return Number.isSafeInteger(step) ? (step as number) : undefined;
}

function textIn(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_ERROR_CHARS).toWellFormed() : null;
}

function costIn(facts: Json): number | null {
  return statedUsdOf(statedUnitsOf(statedTicksIn(facts)));
}
