import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  completeCall,
  send,
  tokensOf,
  TOKENS_PER_CALL,
  untilDone,
  type Reply,
} from "../helpers/cluster-load.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import { openLink, type Statement, type StatementLink } from "../helpers/statement-link.ts";
import {
  clusterName,
  countShards,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const STEPS = Number(process.env["HISTORY_STEPS"] ?? 40);
const shards = await countShards();
const numbers = Array.from({ length: replicaCount }, (_, index) => index + 1);
const isReplicated = replicaCount > shards;
const projects = ["acme/one", "acme/two"] as const;
const models = ["m", "n"] as const;
const WITHIN_MS = 120_000;
/** Long enough that its server counts as gone. */
const STALL_MS = 4000;
const CHECK_EVERY = 8;

interface Call {
  readonly trace: string;
  name: string | null;
  isEnded: boolean;
}
interface Row {
  readonly id: string;
  readonly display_name: string | null;
  readonly ended_at: string | null;
  readonly llm_id: string;
  readonly prompt_token_cost: number;
}
/** What is acknowledged of a project. */
class Expected {
  calls = new Map<string, Call>();
  deleted = new Set<string>();
  feedback = new Set<string>();
  prices = new Map<string, number>();
  days: number | null = null;
}

interface Request {
  readonly method?: string;
  readonly path: string;
  readonly body?: object;
  readonly status?: number;
  /** What holds once it is acknowledged. */
  readonly holds: (reply: Reply) => void;
}

describe.skipIf(replicaCount < 2)(
  `random histories over a link that holds, repeats and delays, on ${clusterName}`,
  () => {
    const random = seededRandom();
    const below = (end: number): number => Math.floor(random.next() * end);
    const one = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;
    const expected = new Map(projects.map((project) => [project, new Expected()]));
    const counts = { held: 0, late: 0, twice: 0, slow: 0 };
    let count = 0;
    let cluster: TestCluster;
    let services: readonly { service: ServiceProcess; links: readonly StatementLink[] }[] = [];

    beforeAll(async () => {
      cluster = await openCluster();
      const order = [numbers, numbers.toReversed()];
      services = await Promise.all(
        order.map(async (replicas) => {
          const links = await Promise.all(replicas.map((replica) => openLink(cluster.url(replica))));
          const service = await cluster.start([], { CLICKHOUSE_URL: links.map(({ url }) => url).join(",") });
          return { service, links };
        }),
      );
    });
    afterAll(async () => {
      await cluster?.close();
      for (const { links } of services) for (const link of links) await link.close();
    });

    const makers: readonly ((project: (typeof projects)[number], own: Expected) => Request | undefined)[] = [
      (project, own) => {
        const id = `call-${++count}`;
        const trace = `trace-${below(5)}`;
        const {
          ended_at: _end,
          summary: _summary,
          ...start
        } = completeCall(project, id, trace) as Record<string, unknown>;
        return {
          path: "/call/start",
          body: { start },
          holds: () => own.calls.set(id, { trace, name: null, isEnded: false }),
        };
      },
      (project, own) => {
        const ids = [`call-${++count}`, `call-${++count}`];
        const trace = `trace-${below(5)}`;
        return {
          path: `/v2/${project}/calls/complete`,
          body: { batch: ids.map((id) => completeCall(project, id, trace)) },
          holds: () => ids.forEach((id) => own.calls.set(id, { trace, name: null, isEnded: true })),
        };
      },
      (project, own) => {
        const [id, call] = one([...own.calls].filter(([, { isEnded }]) => !isEnded)) ?? [];
        if (call === undefined) return undefined;
        const { ended_at, summary } = completeCall(project, id, call.trace) as Record<string, unknown>;
        return {
          path: "/call/end",
          body: { end: { project_id: project, id, ended_at, summary } },
          holds: () => (call.isEnded = true),
        };
      },
      (project, own) => {
        const [id, call] = one([...own.calls]) ?? [];
        if (call === undefined) return undefined;
        const name = `name ${below(3)}`;
        return {
          path: "/call/update",
          body: { project_id: project, call_id: id, display_name: name },
          holds: () => (call.name = name),
        };
      },
      (project, own) => {
        const [id] = one([...own.calls]) ?? [];
        if (id === undefined || below(2) > 0) return undefined;
        return {
          path: "/calls/delete",
          body: { project_id: project, call_ids: [id] },
          holds: () => {
            own.calls.delete(id);
            own.deleted.add(id);
          },
        };
      },
      (project, own) => ({
        path: "/feedback/create",
        body: {
          project_id: project,
          weave_ref: `weave:///${project}/call/any`,
          feedback_type: "custom",
          payload: { n: ++count },
        },
        holds: ({ json }) => own.feedback.add((json as { id: string }).id),
      }),
      (project, own) => {
        const [id] = one([...own.feedback].map((item) => [item])) ?? [];
        if (id === undefined || below(2) > 0) return undefined;
        const query = { $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } };
        return {
          path: "/feedback/purge",
          body: { project_id: project, query },
          holds: () => own.feedback.delete(id),
        };
      },
      (project, own) => {
        const [model, price] = [one(models), ++count / 1e6];
        return {
          path: "/cost/create",
          body: {
            project_id: project,
            costs: {
              [model]: {
                prompt_token_cost: price,
                completion_token_cost: 0,
                effective_date: "2025-01-01T00:00:00Z",
              },
            },
          },
          holds: () => own.prices.set(model, price),
        };
      },
      (project, own) => {
        const days = 20_000 + ++count;
        return {
          method: "PUT",
          path: `/projects/${project}/retention`,
          body: { days },
          holds: () => (own.days = days),
        };
      },
      (project) => {
        if (below(3) > 0) return undefined;
        return {
          method: "DELETE",
          path: `/projects/${project}`,
          status: 202,
          holds: () => expected.set(project, new Expected()),
        };
      },
    ];

    /** One request; what hangs on its way meanwhile, and was done by another server, comes late, if it was acknowledged at once. */
    const act = async (request: Request): Promise<readonly Statement[]> => {
      const { service, links } = one(services);
      const held: Statement[] = [];
      let left = isReplicated && below(6) === 0 ? 1 : 0;
      for (const link of links) {
        link.rule = (statement) => {
          if (!/^\s*(INSERT INTO|ALTER TABLE)/.test(statement.text)) return "pass";
          if (left > 0 && below(2) === 0) {
            left--;
            counts.held++;
            link.stalled = true;
            void pause(STALL_MS).then(() => (link.stalled = false));
            held.push(statement);
            return "hold";
          }
          const fate = one(["pass", "pass", "slow", "twice"] as const);
          if (fate !== "pass") counts[fate]++;
          return fate;
        };
      }
      const { path, body, method = "POST", status = 200 } = request;
      let tries = 0;
      const { reply } = await untilDone(
        async () => {
          tries++;
          return send(service, path, body, { method });
        },
        { withinMs: WITHIN_MS, status: [status] },
      );
      for (const link of links) Object.assign(link, { rule: () => "pass" });
      request.holds(reply);
      return tries === 1 ? held : [];
    };

    const rowsOf = async (service: ServiceProcess, path: string, body: object): Promise<readonly Row[]> => {
      const { reply } = await untilDone(
        async () => {
          const answer = await service.post(path, body);
          return { status: answer.status, text: await answer.text(), json: undefined };
        },
        { withinMs: WITHIN_MS },
      );
      const lines = reply.text.split("\n").filter((line) => line !== "");
      const [first] = lines.map(
        (line) => JSON.parse(line) as Row & { result?: readonly Row[]; results?: readonly Row[] },
      );
      return first?.result ?? first?.results ?? lines.map((line) => JSON.parse(line) as Row);
    };
    const check = async (): Promise<void> => {
      for (const { service } of services)
        for (const [project, own] of expected) {
          const calls = await rowsOf(service, "/calls/stream_query", { project_id: project });
          const seen = calls.map(({ id, display_name, ended_at }) =>
            JSON.stringify([id, display_name, ended_at !== null]),
          );
          expect(seen.toSorted(), project).toEqual(
            [...own.calls].map(([id, call]) => JSON.stringify([id, call.name, call.isEnded])).toSorted(),
          );
          const { reply } = await untilDone(() => send(service, "/trace/usage", { project_id: project }), {
            withinMs: WITHIN_MS,
          });
          expect(reply.status).toBe(200);
          const tokens = [...(await tokensOf(service, project))].filter(([id]) => own.calls.get(id)!.isEnded);
          expect(
            tokens.every(([, n]) => n === TOKENS_PER_CALL),
            project,
          ).toBe(true);
          expect(tokens.length).toBe([...own.calls.values()].filter(({ isEnded }) => isEnded).length);
          const feedback = await rowsOf(service, "/feedback/query", { project_id: project, fields: ["id"] });
          expect(feedback.map(({ id }) => id).sort(), project).toEqual([...own.feedback].sort());
          const { json } = await send(service, `/projects/${project}/retention`, undefined, {
            method: "GET",
          });
          expect(json.days, project).toBe(own.days);
          for (const [model, price] of own.prices) {
            const costs = await rowsOf(service, "/cost/query", { project_id: project });
            const last = costs.filter(({ llm_id }) => llm_id === model);
            expect(
              last.map(({ prompt_token_cost }) => prompt_token_cost),
              `${project} ${model}`,
            ).toContain(price);
          }
        }
    };

    it(
      "lose nothing that was acknowledged, bring nothing back, and every service tells the same",
      { timeout: 1_800_000 },
      async () => {
        const late: Statement[] = [];
        for (let step = 1; step <= STEPS; step++) {
          const project = one(projects);
          const request = one(makers)(project, expected.get(project)!);
          if (request !== undefined) late.push(...(await act(request)));
          if (step % CHECK_EVERY > 0) continue;
          for (const statement of late.splice(0)) {
            counts.late++;
            await statement.deliver();
          }
          await check();
        }
        process.stdout.write(`${JSON.stringify({ ...counts, requests: count })}\n`);
      },
    );
  },
);
