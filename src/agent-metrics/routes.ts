import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../http/auth/guard.ts";
import { sendJsonText } from "../http/json-text.ts";
import { windowOf } from "../http/schemas/window-fields.ts";
import { abortOnClose } from "../http/when-closed.ts";
import type { Clock } from "../shared/clock.ts";
import { isoOf } from "../shared/instant.ts";
import { Groups } from "../stats/sums/groups.ts";
import type { Engine } from "../store/engine.ts";
import { OUTCOMES } from "./outcomes.ts";
import { schemas } from "./route-schemas.ts";
import { printStatement, type TotalsRow } from "./statement.ts";

/** Route for what coding agents report that they did. */
export async function agentStatsRoutes(
  root: FastifyInstance,
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const config = { access: readAccess, tag: "usage" };
  app.post("/agents/stats", { config, schema: schemas.agentStats }, async ({ body, grant }, reply) => {
    const project = grant.project(body.project_id);
    const { timezone, group_by, limit: maxGroups } = body;
    const nowUs = clock.now() * 1000;
    const window = windowOf(body, clock.now());
    const statement = printStatement({ project, window, nowUs, key: group_by.callKey, maxGroups });
    const options = { name: "agent_stats", limits: "heavy", signal: abortOnClose(reply) } as const;
    const rows = await engine.rows<TotalsRow>(statement, options);
    const keys = new Groups(group_by.all);
    const groups = rows
      .filter(({ place }) => place > 0 && place <= maxGroups)
      .map((row) => {
        const key = keys.keys[keys.numberOf(row.group_key, { llm: null, provider: null })]!;
        return `{"key":${key},"total":${totalOf(row)}}`;
      });
    const other = rows.find(({ place }) => place > maxGroups);
    const ends = `"start":"${isoOf(window.startUs)}","end":"${isoOf(window.endUs)}"`;
    return sendJsonText(
      reply,
      `{${ends},"timezone":${JSON.stringify(timezone.name)},"groups":[${groups.join(",")}],"other":${
        other === undefined ? "null" : `{"groups":${other.groups},"total":${totalOf(other)}}`
      },"total":${totalOf(rows.find(({ place }) => place === 0))}}`,
    );
  });
}

function totalOf(row: TotalsRow | undefined): string {
  const members = Object.keys(OUTCOMES).map((name, at) => [name, row?.totals[at] ?? null]);
  return JSON.stringify(Object.fromEntries(members));
}
