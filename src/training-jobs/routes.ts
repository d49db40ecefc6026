import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { readAccess } from "../http/auth/guard.ts";
import type { Clock } from "../shared/clock.ts";
import { invalid } from "../shared/errors.ts";
import { parseOrUndefined } from "../shared/json.ts";
import type { JobStore, ShownJob } from "./job-store.ts";
import { schemas } from "./route-schemas.ts";
import { shownJob } from "./shown-job.ts";

export interface TrainingJobRoutesDeps {
  readonly store: JobStore;
  readonly clock: Clock;
}

const DEFAULT_LIMIT = 100;
const token = z.tuple([z.int(), z.string(), z.string()]);

/** Registers the route that lists training jobs. */
export async function trainingJobRoutes(
  root: FastifyInstance,
  { store, clock }: TrainingJobRoutesDeps,
): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const config = { access: readAccess, tag: "training" };
  app.post("/training/jobs/query", { config, schema: schemas.queryTrainingJobs }, async (request) => {
    const { project_id, limit, page_token, ...given } = request.body;
    const project = request.grant.project(project_id);
    const kind = given.kind ?? undefined;
    const status = given.status ?? undefined;
    const base_model = given.base_model ?? undefined;
    const selection = hashOf([project, kind, status, base_model]);
    const after = page_token == null ? undefined : readToken(page_token, selection);
    const size = limit ?? DEFAULT_LIMIT;
    const found = await store.list(
      project,
      { kind, status, base_model, after, limit: size + 1 },
      clock.now(),
    );
    const jobs = found.slice(0, size);
    const next_page_token = found.length > size ? tokenAfter(jobs.at(-1)!, selection) : null;
    return { jobs: jobs.map(shownJob), next_page_token };
  });
}

function tokenAfter({ created_at_us: createdAtUs, id }: ShownJob, selection: string): string {
  return Buffer.from(JSON.stringify([createdAtUs, id, selection])).toString("base64url");
}

/** Errors: validation for an invalid token or one of another selection. */
function readToken(text: string, ofSelection: string) {
  const read = token.safeParse(parseOrUndefined(Buffer.from(text, "base64url").toString()));
  if (!read.success) throw tokenError("Invalid page token");
  const [createdAtUs, id, selection] = read.data;
  if (selection !== ofSelection) throw tokenError("This token belongs to another query");
  return { createdAtUs, id };
}

function tokenError(msg: string) {
  return invalid([{ loc: ["body", "page_token"], msg, type: "page_token" }]);
}

function hashOf(selection: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(selection)).digest("base64url").slice(0, 16);
}
