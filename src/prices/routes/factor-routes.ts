import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { pricesAccess, readAccess } from "../../http/auth/guard.ts";
import { firstOf } from "../../http/audit/register-audit.ts";
import { idsToPurge } from "../../http/schemas/purge-by-id.ts";
import { providerNamed } from "../project/cost-factors.ts";
import type { FactorStore } from "../project/factor-store.ts";
import type { Clock } from "../../shared/clock.ts";
import { isoOf } from "../../shared/instant.ts";
import { invalid } from "../../shared/errors.ts";
import { MAX_FACTORS } from "./factor-schema.ts";
import { schemas } from "./route-schemas.ts";

export interface FactorDeps {
  readonly factors: FactorStore;
  readonly clock: Clock;
}

/** Routes for cost factors of a project: reported next to list costs, never applied to them. */
export async function factorRoutes(root: FastifyInstance, { factors, clock }: FactorDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();

  app.post(
    "/cost/factor/create",
    {
      config: { access: pricesAccess, audit: "factors.set", tag: "prices" },
      schema: schemas.createCostFactors,
    },
    async (request) => {
      const { grant, body } = request;
      const project = grant.project(body.project_id);
      const createdAtMs = clock.now();
      const added = body.factors.map(({ provider, factor, effective_date, note }) => ({
        provider: provider == null ? "" : providerNamed(provider),
        factor,
        effectiveAtUs: effective_date ?? createdAtMs * 1000,
        note: note?.toWellFormed() ?? "",
      }));
      if ((await factors.all(project)).length + added.length > MAX_FACTORS) throw tooMany();
      request.audit.begin(
        [project],
        firstOf(
          "providers",
          added.map(({ provider }) => provider),
        ),
      );
      const ids = await factors.add(project, added, { createdBy: grant.keyId, createdAtMs });
      request.audit.add(firstOf("ids", ids));
      return { ids: [...ids] };
    },
  );

  app.post(
    "/cost/factor/query",
    {
      config: { access: readAccess, tag: "prices" },
      schema: schemas.queryCostFactors,
    },
    async (request) => {
      const stored = await factors.all(request.grant.project(request.body.project_id));
      const results = stored.map(({ id, provider, factor, effectiveAtUs, note, createdBy, createdAtMs }) => ({
        id,
        provider: provider || null,
        factor,
        effective_date: isoOf(effectiveAtUs),
        note,
        created_by: createdBy,
        created_at: new Date(createdAtMs).toISOString(),
      }));
      return { results };
    },
  );

  app.post(
    "/cost/factor/purge",
    {
      config: { access: pricesAccess, audit: "factors.purge", tag: "prices" },
      schema: schemas.purgeCostFactors,
    },
    async (request) => {
      const { grant, body } = request;
      const project = grant.project(body.project_id);
      const ids = idsToPurge(body.query);
      request.audit.begin([project], firstOf("ids", ids));
      await factors.purge(project, ids);
      return {};
    },
  );
}

function tooMany() {
  return invalid([
    {
      loc: ["body", "factors"],
      msg: `A project may have ${MAX_FACTORS} factors. Purge those that hold no longer.`,
      type: "too_long",
    },
  ]);
}
