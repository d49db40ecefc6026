import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../../http/auth/guard.ts";
import type { Engine } from "../../store/engine.ts";
import { abortOnClose } from "../../http/when-closed.ts";
import type { Prices } from "../../prices/prices.ts";
import { readTraceOf } from "./read-trace.ts";
import { receiptOf } from "./receipt.ts";
import { schemas } from "./route-schemas.ts";

export interface ReceiptDeps {
  readonly engine: Engine;
  /** Maximum calls read for one receipt. */
  readonly maxTraceCalls: number;
  readonly prices: Prices;
}

/** Registers the route that explains the cost of a call. */
export async function receiptRoutes(root: FastifyInstance, deps: ReceiptDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  app.post(
    "/call/receipt",
    { config: { access: readAccess, tag: "usage" }, schema: schemas.callReceipt },
    async (request, reply) => {
      const { project_id, call_id: callId, trace_id } = request.body;
      const project = request.grant.project(project_id);
      const options = { maxCalls: deps.maxTraceCalls, signal: abortOnClose(reply) };
      const [trace, book] = await Promise.all([
        readTraceOf(deps.engine, { project, callId, traceId: trace_id ?? undefined }, options),
        deps.prices.bookFor(project),
      ]);
      using _calls = trace.calls;
      return receiptOf(trace.call, { ...trace, book });
    },
  );
}
