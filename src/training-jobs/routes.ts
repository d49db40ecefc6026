import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { readAccess } from "../http/auth/guard.ts";
import type { Clock } from "../shared/clock.ts";
import { parseToken, printToken, selectionHash } from "../http/page-token.ts";
import type { JobStore } from "./job-store.ts";
import { schemas } from "./route-schemas.ts";
import { shownJob } from "./shown-job.ts";

export interface TrainingJobRoutesDeps {
  readonly store: JobStore;
  readonly clock: Clock;
}

const DEFAULT_LIMIT = 100;
const place = z.tuple([z.int(), z.string()]);

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
    const selection = selectionHash([project, kind, status, base_model]);
    const after = page_token == null ? undefined : parseToken(page_token, { place, selection });
    const size = limit ?? DEFAULT_LIMIT;
    const found = await store.list(
      project,
      { kind, status, base_model, after, limit: size + 1 },
      clock.now(),
    );
    const jobs = found.slice(0, size);
    const last = found.length > size ? jobs.at(-1) : undefined;
    const next_page_token = last === undefined ? null : printToken([last.created_at_us, last.id], selection);
    return { jobs: jobs.map(shownJob), next_page_token };
  });
}
