import { randomUUID } from "node:crypto";

/** An answer of the reference upstream. */
export interface TrainingResponse {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Model {
  readonly id: string;
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  readonly base_model: string;
  readonly run_id: string;
  readonly checkpoints: {
    readonly id: string;
    readonly step: number;
    readonly metrics: Record<string, number>;
  }[];
}

interface Event {
  readonly id: string;
  readonly type: "training_started" | "gradient_step" | "training_ended" | "training_failed";
  readonly data: Record<string, unknown>;
}

interface Job {
  readonly id: string;
  readonly modelId: string;
  readonly createdAtMs: number;
  readonly events: readonly Event[];
  /** Gradient steps between two checkpoints; undefined: only the last is kept. */
  readonly checkpointEvery: number | undefined;
  /** Events whose checkpoints are there. */
  settled: number;
}

type Json = Readonly<Record<string, unknown>>;
const ok = (body: unknown): TrainingResponse => ({ status: 200, body });
const missing = (what: string): TrainingResponse => ({ status: 404, body: { detail: `${what} not found` } });
const fault = (loc: readonly (string | number)[], msg: string, type: string): TrainingResponse => ({
  status: 422,
  body: { detail: [{ loc, msg, type }] },
});

/** Models, checkpoints and jobs, as the training service documents them, in memory. */
export class ReferenceTraining {
  readonly #models = new Map<string, Model>();
  readonly #jobs = new Map<string, Job>();
  readonly #stepMs: number;

  /** `stepMs`: time between two events of a job; 0 lets all of them happen at once. */
  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  createModel(body: Json): TrainingResponse {
    for (const member of ["project", "name", "base_model"]) {
      if (typeof body[member] !== "string") return fault(["body", member], "Field required", "missing");
    }
    const known = [...this.#models.values()].find(
      (model) => model.name === body["name"] && model.project === body["project"],
    );
    if (known !== undefined) {
      if (body["return_existing"] === true) return ok(shown(known));
      return {
        status: 409,
        body: { detail: "A model with that name exists" },
        headers: { "x-should-retry": "false" },
      };
    }
    const model: Model = {
      id: randomUUID(),
      entity: typeof body["entity"] === "string" ? body["entity"] : "resolved-entity",
      project: String(body["project"]),
      name: String(body["name"]),
      base_model: String(body["base_model"]),
      run_id: randomUUID().slice(0, 8),
      checkpoints: [{ id: randomUUID(), step: 0, metrics: {} }],
    };
    this.#models.set(model.id, model);
    return ok(shown(model));
  }

  deleteModel(id: string): TrainingResponse {
    const model = this.#models.get(id);
    if (model === undefined) return missing("Model");
    this.#models.delete(id);
    return ok({ model_id: id, deleted_checkpoints: model.checkpoints.length, deleted_run: true });
  }

  listCheckpoints(id: string, query: URLSearchParams): TrainingResponse {
    const model = this.#models.get(id);
    if (model === undefined) return missing("Model");
    for (const job of this.#jobs.values()) if (job.modelId === id) this.#settle(job);
    const sorted = model.checkpoints.toSorted((a, b) => a.step - b.step);
    return page(query.get("order") === "desc" ? sorted.toReversed() : sorted, query);
  }

  deleteCheckpoints(id: string, body: Json): TrainingResponse {
    const model = this.#models.get(id);
    if (model === undefined) return missing("Model");
    if (!Array.isArray(body["steps"])) return fault(["body", "steps"], "Field required", "missing");
    const steps = new Set<unknown>(body["steps"]);
    const kept = model.checkpoints.filter((checkpoint) => !steps.has(checkpoint.step));
    const known = new Set<unknown>(model.checkpoints.map((checkpoint) => checkpoint.step));
    const deleted = model.checkpoints.length - kept.length;
    model.checkpoints.splice(0, model.checkpoints.length, ...kept);
    return ok({ deleted_count: deleted, not_found_steps: [...steps].filter((step) => !known.has(step)) });
  }

  /**
   * A job of `steps` gradient steps; one of a model named `failing-…` fails half way. `checkpointEvery`: gradient steps between
   * two checkpoints, besides that of the end.
   */
  createJob(modelId: string, steps: number, checkpointEvery?: unknown): TrainingResponse {
    const model = this.#models.get(modelId);
    if (model === undefined) return missing("Model");
    const job: Job = {
      id: randomUUID(),
      modelId,
      createdAtMs: Date.now(),
      events: eventsOf(steps, model.name.startsWith("failing-")),
      checkpointEvery: Number.isInteger(checkpointEvery) ? Number(checkpointEvery) : undefined,
      settled: 0,
    };
    this.#jobs.set(job.id, job);
    return ok({ id: job.id });
  }

  job(id: string): TrainingResponse {
    const job = this.#jobs.get(id);
    if (job === undefined) return missing("Training job");
    const happened = this.#happened(job);
    const last = happened.at(-1)?.type;
    const status = last === undefined ? "pending" : (STATUSES[last] ?? "running");
    const isOver = happened.length === job.events.length;
    return ok({
      id,
      model_id: job.modelId,
      status,
      created_at: new Date(job.createdAtMs).toISOString(),
      training_end: isOver
        ? new Date(job.createdAtMs + this.#stepMs * job.events.length).toISOString()
        : null,
    });
  }

  /** Loses all jobs, as a service may after a while; models stay. */
  forgetJobs(): void {
    this.#jobs.clear();
  }

  listEvents(id: string, query: URLSearchParams): TrainingResponse {
    const job = this.#jobs.get(id);
    if (job === undefined) return missing("Training job");
    // checkpoints are there by the time their steps, or the end, can be seen
    this.#settle(job);
    return page(this.#happened(job), query);
  }

  #happened(job: Job): readonly Event[] {
    if (this.#stepMs === 0) return job.events;
    return job.events.slice(0, Math.floor((Date.now() - job.createdAtMs) / this.#stepMs));
  }

  /** Adds the checkpoints of what has happened. */
  #settle(job: Job): void {
    const model = this.#models.get(job.modelId);
    const happened = this.#happened(job);
    for (const event of happened.slice(job.settled)) {
      const step = Number(event.data["gradient_step"]);
      const isKept = job.checkpointEvery !== undefined && step > 0 && step % job.checkpointEvery === 0;
      if (event.type === "training_ended" || isKept) {
        const last = Math.max(0, ...(model?.checkpoints ?? []).map((checkpoint) => checkpoint.step));
        model?.checkpoints.push({ id: randomUUID(), step: last + 1, metrics: { reward: 0.5 } });
      }
    }
    job.settled = happened.length;
  }
}

const STATUSES: Readonly<Record<string, string>> = {
  training_started: "started",
  training_ended: "ended",
  training_failed: "failed",
};

function eventsOf(steps: number, fails: boolean): Event[] {
  const event = (type: Event["type"], data: Event["data"]): Event => ({ id: randomUUID(), type, data });
  const done = Array.from({ length: fails ? Math.floor(steps / 2) : steps }, (_, at) =>
    event("gradient_step", metricsOf(at, steps)),
  );
  const end = fails
    ? event("training_failed", { error_message: "CUDA out of memory" })
    : event("training_ended", {});
  return [event("training_started", { num_sequences: steps }), ...done, end];
}

/** Metrics of a gradient step, with the names and in the ranges of real ones. */
function metricsOf(at: number, steps: number): Record<string, number> {
  return {
    gradient_step: at + 1,
    loss: 1 / (at + 1),
    reward: at / steps,
    reward_std_dev: 0.25 / (at + 1),
    policy_loss: -0.02 / (at + 1),
    entropy: 0.9 - (0.4 * at) / steps,
    kl_div: (0.01 * at) / steps,
    grad_norm: 0.8 / Math.sqrt(at + 1),
    learning_rate: 1e-5,
    num_groups_submitted: steps,
    num_groups_trainable: steps,
    num_trainable_tokens: 4096,
    exception_rate: 0,
  };
}

function shown({ checkpoints: _own, ...model }: Model): object {
  return model;
}

function page(items: readonly { readonly id: string }[], query: URLSearchParams): TrainingResponse {
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    return fault(["query", "limit"], "Input should be between 1 and 100", "less_than_equal");
  }
  const after = query.get("after");
  const start = after === null ? 0 : items.findIndex((item) => item.id === after) + 1;
  if (after !== null && start === 0) return fault(["query", "after"], "Unknown cursor", "value_error");
  const data = items.slice(start, start + limit);
  return ok({
    object: "list",
    data,
    first_id: data[0]?.id ?? "",
    last_id: data.at(-1)?.id ?? "",
    has_more: start + data.length < items.length,
  });
}
