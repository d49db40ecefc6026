import { partialSuccess } from "../../helpers/otlp-request.ts";
import { micros } from "./answers.ts";
import type { Lane } from "./lane.ts";
import type { CallName } from "./messages.ts";
import type { Replica } from "./replica.ts";
import { doomedBy, type Change, type LaneState } from "./state.ts";
import type { Request, Step } from "./steps.ts";
import { isTraceless, toWire } from "./wire.ts";

/** Project of the lanes, and the replicas that serve it. */
export interface World {
  readonly project: string;
  readonly replicas: readonly [Replica, Replica];
}

interface Told {
  readonly id?: string;
  readonly trace_id?: string;
  readonly res?: readonly Told[];
  readonly rejected?: readonly { readonly index: number }[];
  readonly partialSuccess?: { readonly rejectedSpans: string };
  readonly num_deleted?: number;
}

/** A change to the project of a lane, during a step. */
export interface Meanwhile {
  readonly change: Change;
  readonly replica: 0 | 1;
}

/** Sends the requests of a step at once, and follows them in the model. */
export async function takeStep(
  lane: Lane,
  step: Step,
  { world, meanwhile }: { world: World; meanwhile: readonly Meanwhile[] },
): Promise<void> {
  const sendable = withoutRivals(lane, throughOneReplica(step, meanwhile), meanwhile);
  const responses = await Promise.all(
    sendable.map(async ({ replica, request }) => {
      const { url, body } = toWire(request, { project: world.project, lane: lane.name });
      const told = await send(world.replicas[replica], { url, body, status: isRefused(request) ? 422 : 200 });
      return { request, ...told };
    }),
  );
  const before = meanwhile.length === 0 ? lane.knownTraces() : { traceOf: () => undefined };
  if (meanwhile.length > 0) lane.forgetTraces();
  const isAlone = sendable.length === 1 && meanwhile.length === 0;
  const starts = responses.flatMap(({ request, told }) => startsOf(request, told));
  for (const start of starts) {
    // of two that name different parents at once, either may have come first
    const isAgreed = starts.every((one) => one.id !== start.id || one.parent === start.parent);
    lane.tellTrace({ ...start, parent: isAgreed ? start.parent : null, before });
  }
  for (const { request, told, isRepeated } of responses) {
    checkRejected(request, told);
    if (request.form === "delete" && isAlone && !isRepeated) {
      const countDoomed = (state: LaneState) => doomedBy(state, request.ids, lane.isSameTrace).length;
      lane.narrow("num_deleted", told.num_deleted, countDoomed);
    }
  }
  lane.change([...sendable.map(({ request }) => request), ...meanwhile.map(({ change }) => change)]);
}

function isRefused(request: Request): boolean {
  return request.form === "update" && request.message.members["display_name"] === undefined;
}

interface Sent {
  readonly url: string;
  readonly body: object | Buffer;
  /** Expected status. */
  readonly status: 200 | 422;
}

async function send(
  replica: Replica,
  { url, body, status: expected }: Sent,
): Promise<{ readonly told: Told; readonly isRepeated: boolean }> {
  const { status, bytes, isRepeated = false } = await replica({ method: "POST", url, body });
  if (status !== expected) throw new Error(`${url} ${JSON.stringify(body)}: ${status} ${bytes.toString()}`);
  return {
    told: Buffer.isBuffer(body) ? ofSpans(bytes) : (JSON.parse(bytes.toString()) as Told),
    isRepeated,
  };
}

function ofSpans(bytes: Buffer): Told {
  const partial = partialSuccess(bytes);
  return partial === undefined ? {} : { partialSuccess: { rejectedSpans: String(partial.rejected) } };
}

/**
 * While a project is deleted, it is written to through the replica that deletes it: another one may have noted or read
 * something before, and store it after. Known limits: docs/decisions/0001-call-storage.md, 0012-time-ordered-storage.md.
 */
function throughOneReplica(step: Step, meanwhile: readonly Meanwhile[]): Step {
  const deleting = [...new Set(meanwhile.map(({ replica }) => replica))];
  if (deleting.length > 1) return [];
  return step.map(({ replica, request }) => ({ replica: deleting[0] ?? replica, request }));
}

/**
 * Left out, as two replicas that get these at the same time do not know of each other:
 * - first starts of one call, which choose a trace when they name none, and the hour where it lies;
 * - messages that start and end one call: of a call that parts have waited for, the start of one and the end of the other
 *   may hold.
 * Everything else may be sent at once. Known limits: docs/decisions/0001-call-storage.md, 0012-time-ordered-storage.md.
 */
function withoutRivals(lane: Lane, step: Step, meanwhile: readonly Meanwhile[]): Step {
  const known = meanwhile.length === 0 ? lane.knownTraces() : { traceOf: () => undefined };
  const isRival = (one: Half, other: Half): boolean => {
    const isFirst = known.traceOf(one.id) === undefined && one.hour !== undefined && other.hour !== undefined;
    return isFirst && (isTraceless(one.id) || one.hour !== other.hour);
  };
  const taken: { readonly replica: 0 | 1; readonly halves: readonly Half[] }[] = [];
  return step.filter(({ replica, request }) => {
    const halves = halvesOf(request);
    const others = taken.filter((one) => one.replica !== replica).map((one) => one.halves);
    const isLeftOut = others.some((other) =>
      halves.some(
        (half) =>
          (isWhole(halves, half.id) && isWhole(other, half.id)) ||
          other.some((one) => one.id === half.id && isRival(half, one)),
      ),
    );
    if (!isLeftOut) taken.push({ replica, halves });
    return !isLeftOut;
  });
}

/** A message's effect on a call: started in an hour, or ended. */
interface Half {
  readonly id: CallName;
  readonly hour: number | undefined;
}

function halvesOf(request: Request): readonly Half[] {
  const messages =
    request.form === "single" ? [request.message] : "messages" in request ? request.messages : [];
  return messages.flatMap(({ kind, id, members }) => {
    if (kind === "end") return [{ id, hour: undefined }];
    const start = { id, hour: Math.floor(micros(members["started_at"] as string) / 3.6e9) };
    return kind === "start" ? [start] : [start, { id, hour: undefined }];
  });
}

function isWhole(halves: readonly Half[], id: CallName): boolean {
  const mine = halves.filter((half) => half.id === id);
  return mine.some(({ hour }) => hour === undefined) && mine.some(({ hour }) => hour !== undefined);
}

/** The broken item of a batch is set aside, and no other. */
function checkRejected(request: Request, told: Told): void {
  if (!("messages" in request)) return;
  const expected =
    request.brokenAt === undefined ? [] : [Math.min(request.brokenAt, request.messages.length)];
  const got =
    request.form === "spans"
      ? Number(told.partialSuccess?.rejectedSpans ?? 0) === expected.length && expected
      : told.rejected?.map(({ index }) => index);
  if (JSON.stringify(got ?? []) !== JSON.stringify(expected))
    throw new Error(`set aside: expected ${JSON.stringify(expected)}, got ${JSON.stringify(told)}`);
}

/** Returns the starts of a request with their responses. */
function startsOf(request: Request, told: Told): { id: CallName; parent: CallName | null; told: unknown }[] {
  const messages =
    request.form === "single" ? [request.message] : request.form === "batch" ? request.messages : [];
  const brokenAt = (request.form === "batch" ? request.brokenAt : undefined) ?? Infinity;
  return messages.flatMap(({ kind, id, members }, index) => {
    if (kind !== "start") return [];
    const response = request.form === "batch" ? told.res?.[index < brokenAt ? index : index + 1] : told;
    const parent = (members["parent_id"] as CallName | "" | null | undefined) || null;
    return [{ id, parent, told: response?.trace_id }];
  });
}
