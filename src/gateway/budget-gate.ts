import type { FastifyReply, FastifyRequest } from "fastify";
import type { Limit } from "../budgets/budget.ts";
import { TRACE_LIMIT_HEADER, type Budgets } from "../budgets/budgets.ts";
import { readTraceLimit } from "../budgets/trace-limit.ts";
import type { Prices } from "../prices/prices.ts";
import { AppError } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";
import type { ModelApi } from "./apis/model-api.ts";
import { readWholeBody } from "./holds/read-body.ts";
import { worstCaseOf } from "./holds/worst-case.ts";
import { projectOf } from "./named-projects.ts";
import type { TraceContext } from "./recording/caller.ts";
import type { CompletionRecording } from "./recording/completion-recording.ts";
import { isForm } from "./recording/form-request.ts";
import type { RelayedBody } from "./request-body.ts";
import type { Target } from "./upstreams.ts";

export interface BudgetGate {
  readonly budgets: Budgets;
  readonly prices: Prices;
}

/** A request that comes under budgets. */
export interface Bound {
  readonly project: Project;
  readonly traceLimit: Limit | undefined;
}

/**
 * Finds out if a request comes under budgets; undefined if not. Errors: project_required; validation of the header;
 * `StorageError`.
 */
export async function bindRequest(
  { headers, grant }: FastifyRequest,
  { project, trace }: { readonly project: Project | undefined; readonly trace: TraceContext },
  { budgets }: BudgetGate,
): Promise<Bound | undefined> {
  const tightened = readTraceLimit(headers[TRACE_LIMIT_HEADER]);
  if (project === undefined) {
    if (tightened === undefined && !(await bindsKey(grant, budgets))) return undefined;
    throw new AppError(
      "project_required",
      "This request comes under a budget and must name its project: set the header x-sumtree-project.",
    );
  }
  const traceLimit = await budgets.limitOf(project, { id: trace.traceId, isNew: trace.isNew }, tightened);
  return traceLimit === undefined && !(await budgets.has(project)) ? undefined : { project, traceLimit };
}

/** Throws unmetered_endpoint if a request comes under a budget: nobody could tell what it costs. */
export async function refuseUnmetered(request: FastifyRequest, { budgets }: BudgetGate): Promise<void> {
  const { project } = projectOf(request);
  const isBound = project === undefined ? await bindsKey(request.grant, budgets) : await budgets.has(project);
  if (!isBound) return;
  throw new AppError(
    "unmetered_endpoint",
    "This endpoint is not metered, so requests under a budget may not use it.",
  );
}

function bindsKey(grant: FastifyRequest["grant"], budgets: Budgets): Promise<boolean> {
  return budgets.bindsKey(grant.keyId, (pattern) => grant.covers(pattern));
}

interface HeldRequest extends BudgetGate {
  readonly bound: Bound;
  readonly modelApi: ModelApi;
  readonly target: Target;
  readonly read: RelayedBody;
  readonly recording: CompletionRecording;
}

/**
 * Holds the most that a request can use in all its budgets, until its call is stored. Resolves when that is in the journal.
 * Errors: those of `Budgets.admit`; bad_request if the body cannot be read; service_overloaded.
 */
export async function holdWorstCase(
  request: FastifyRequest,
  reply: FastifyReply,
  { bound: { project, traceLimit }, budgets, prices, modelApi, target, read, recording }: HeldRequest,
): Promise<void> {
  const { trace, caller, startedAtMs, request: facts } = recording;
  await recording.recover();
  const type = request.headers["content-type"];
  const inputs = isForm(type) ? undefined : facts.inputs();
  const whole = inputs === undefined ? readWholeBody(read.plain(), type) : { body: inputs };
  const { model = "", userId } = facts.facts;
  const book = await prices.sharedBookFor(project);
  const metered = { modelApi, ...whole, model, provider: target.provider, startedAtUs: startedAtMs * 1000 };
  const values = {
    api_key: request.grant.keyId,
    svc_user_id: userId,
    thread_id: caller.threadId,
    trace_id: trace.traceId,
    llm: model === "" ? undefined : model,
  };
  const worstCase = worstCaseOf(metered, book);
  const asked = { project, values, startedAtMs, isNewTrace: trace.isNew, worstCase };
  const admitted = await budgets.admit(asked, traceLimit);
  if (admitted === undefined) return;
  await recording.hold({ hold: admitted.hold, book, request: asked });
  for (const [name, value] of Object.entries(admitted.headers)) void reply.header(name, value);
}
