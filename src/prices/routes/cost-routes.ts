import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { pricesAccess, readAccess } from "../../http/auth/guard.ts";
import { firstOf } from "../../http/audit/register-audit.ts";
import type { Engine } from "../../store/engine.ts";
import { idsToPurge } from "../../http/schemas/purge-by-id.ts";
import type { NewPrice, PriceStore } from "../project/price-store.ts";
import type { Clock } from "../../shared/clock.ts";
import { invalid } from "../../shared/errors.ts";
import { tierNamed } from "../../usage/read-service.ts";
import { planPriceList } from "./price-list.ts";
import { MAX_PRICES, type ListedPrice, type PriceMessage } from "./schema.ts";
import { schemas } from "./route-schemas.ts";

export interface CostDeps {
  readonly engine: Engine;
  readonly prices: PriceStore;
  readonly clock: Clock;
}

const maySet = { access: pricesAccess, audit: "prices.set", tag: "prices" } as const;
const mayPurge = { access: pricesAccess, audit: "prices.purge", tag: "prices" } as const;
const mayRead = { access: readAccess, tag: "prices" };

/** A project's own prices for LLMs, where they differ from the public list. */
export async function costRoutes(root: FastifyInstance, { engine, prices, clock }: CostDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();

  app.post("/cost/create", { config: maySet, schema: schemas.createPrices }, async (request) => {
    const { grant, body } = request;
    const project = grant.project(body.project_id);
    const nowMs = clock.now();
    const added = Object.entries(body.costs).map(([llmId, message]) => toPrice(llmId, message, nowMs));
    if ((await prices.all(project)).length + added.length > MAX_PRICES) throw tooMany();
    request.audit.begin([project], firstOf("llm_ids", Object.keys(body.costs)));
    const ids = await prices.add(project, added, { createdBy: grant.keyId, createdAtMs: nowMs });
    request.audit.add(firstOf("ids", ids));
    return { ids: ids.map((id, index): [string, string] => [id, added[index]!.llm_id]) };
  });

  app.post("/cost/query", { config: mayRead, schema: schemas.queryPrices }, async (request) => {
    const { grant, body } = request;
    const statement = planPriceList(grant.project(body.project_id), body);
    return { results: await engine.rows<ListedPrice>(statement, { name: "price_list" }) };
  });

  app.post("/cost/purge", { config: mayPurge, schema: schemas.purgePrices }, async (request) => {
    const { grant, body } = request;
    const project = grant.project(body.project_id);
    const ids = idsToPurge(body.query);
    request.audit.begin([project], firstOf("ids", ids));
    await prices.purge(project, ids);
    return {};
  });
}

function toPrice(llmId: string, message: PriceMessage, nowMs: number): NewPrice {
  return {
    llm_id: llmId.toWellFormed(),
    provider_id: message.provider_id?.toWellFormed() ?? "default",
    effectiveAtUs: message.effective_date ?? nowMs * 1000,
    prompt_token_cost: message.prompt_token_cost,
    completion_token_cost: message.completion_token_cost,
    cache_read_input_token_cost: message.cache_read_input_token_cost,
    cache_creation_input_token_cost: message.cache_creation_input_token_cost,
    service_tier: tierNamed(message.service_tier),
    unit_costs: message.unit_costs ?? {},
  };
}

function tooMany() {
  return invalid([
    {
      loc: ["body", "costs"],
      msg: `A project may have ${MAX_PRICES} prices. Purge those that hold no longer.`,
      type: "too_long",
    },
  ]);
}
