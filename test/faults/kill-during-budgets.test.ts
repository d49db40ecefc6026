import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NOTHING, overIn, statesOf, type Amounts, type ShownBudget } from "../helpers/budgeted.ts";
import { startProvider, type Provider } from "../helpers/provider.ts";
import { answerOf, type Json } from "../helpers/reference-upstream/models.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const KILLS = runs(2, 8);
const CLIENTS = 24;
const random = seededRandom();
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)]!;
const project_id = "acme/killed-budgets";

const dir = mkdtempSync(join(tmpdir(), "sumtree-kill-budgets-"));
let provider: Provider;
let answered = 0;
let isBackgroundOver = false;
beforeAll(async () => {
  provider = await startProvider(async ({ method, url, body }, response) => {
    if (method === "GET" || body.includes('"background":true')) {
      const usage = isBackgroundOver ? { input_tokens: 100, output_tokens: 9, total_tokens: 109 } : null;
      const status = isBackgroundOver ? "completed" : "queued";
      const facts = { id: BACKGROUND, object: "response", model: "gpt-5", created_at: 1_800_000_000 };
      return response.end(JSON.stringify({ ...facts, background: true, output: [], status, usage }));
    }
    const asked = JSON.parse(body.toString()) as Json;
    const { type, pieces } = answerOf(url.slice("/v1".length), asked)!;
    const id = `_0aB1cD2eF3gH4iJ5k${answered++}"`;
    await delay(random.next() * 40);
    response.writeHead(200, { "content-type": type });
    for (const piece of pieces) {
      response.write(piece.replaceAll(/(?<="(?:resp|msg|chatcmpl))[-_]1"/g, id));
      if (random.next() < 0.3) await delay(random.next() * 10);
    }
    return response.end();
  });
});
afterAll(async () => {
  await provider.close();
  rmSync(dir, { recursive: true, force: true });
});

const BACKGROUND = "resp_0aB1cD2eF3gH4iJ5kBackground";
const headers = {
  authorization: authorization(ROOT_KEY, "bearer"),
  "content-type": "application/json",
  "x-sumtree-project": project_id,
};
const messages = [{ role: "user", content: "words ".repeat(40) }];
const APIS: readonly (readonly [string, (user: string) => Json])[] = [
  ["/chat/completions", (user) => ({ user, max_tokens: 20, messages })],
  ["/responses", (user) => ({ safety_identifier: user, max_output_tokens: 20, input: messages[0]!.content })],
  ["/messages", (user) => ({ metadata: { user_id: user }, max_tokens: 20, messages })],
];

function send({ url }: ServiceProcess, path: string, body: Json): Promise<Response> {
  return fetch(`${url}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

/** How often a client comes back when it is told to: what runs in the background may hold the rest. */
const MAX_HELD = 100;

/** Sends requests until the service is gone, or nothing more fits. */
async function client(service: ServiceProcess): Promise<void> {
  for (let held = 0; held < MAX_HELD;) {
    const [path, bodyOf] = pick(APIS);
    const body = {
      ...bodyOf(pick(["ada", "ben"])),
      model: pick(["gpt-4o", "gpt-5"]),
      stream: random.next() < 0.6,
    };
    try {
      const response = await send(service, path, body);
      await response.text();
      if (response.status === 402) return;
      held = response.status === 200 ? 0 : held + 1;
      if (held > 0) await delay(20);
    } catch {
      return;
    }
  }
}

async function metric(service: ServiceProcess, name: string): Promise<number> {
  const response = await fetch(`${service.url}/metrics`, { headers: { authorization: authorization() } });
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
const completions = "sumtree_gateway_completions";
const isRecorded = async (service: ServiceProcess): Promise<boolean> =>
  (await metric(service, "sumtree_gateway_open_requests")) +
    (await metric(service, `${completions}_pending`)) ===
  0;

async function budgetsIn(service: ServiceProcess): Promise<readonly ShownBudget[]> {
  const response = await service.post("/budget/query", { project_id });
  return ((await response.json()) as { readonly budgets: readonly ShownBudget[] }).budgets;
}

async function used(service: ServiceProcess): Promise<Amounts> {
  const [start, end] = ["1970-01-01T00:00:00Z", "2200-01-01T00:00:00Z"];
  const response = await service.post("/usage/stats", { project_id, start, end, include_costs: true });
  const { total } = (await response.json()) as { readonly total: Readonly<Record<string, number>> };
  return { usd: total["total_cost"]!, tokens: total["total_tokens"]!, requests: total["requests"]! };
}

const heldIn = async (service: ServiceProcess): Promise<readonly Amounts[]> =>
  (await budgetsIn(service)).flatMap(statesOf).map(({ held }) => held);
const heldRequests = async (service: ServiceProcess): Promise<readonly number[]> =>
  (await heldIn(service)).filter(({ requests }) => requests > 0).map(({ requests }) => requests);

/** Sends the first request of a life; what the life before has left is recorded when it is admitted. */
async function checkFirst(service: ServiceProcess): Promise<number> {
  const first = await send(service, "/chat/completions", { model: "gpt-4o", max_tokens: 20, messages });
  const recovered = await metric(service, `${completions}_recovered_total`);
  expect([200, 402, 429]).toContain(first.status);
  await first.text();
  await until(() => isRecorded(service));
  expect(await metric(service, `${completions}_recovered_total`)).toBe(recovered);
  return recovered;
}

describe(`kill -9 under budgets (seed ${random.seed})`, () => {
  it(
    `never exceeds a limit over ${KILLS + 1} lives, and keeps what runs in the background`,
    { timeout: 300_000 },
    async () => {
      const url = `${provider.origin}/v1`;
      const settings = {
        DATA_DIR: dir,
        ROOT_API_KEY: ROOT_KEY,
        CHAT_UPSTREAM_URL: url,
        ANTHROPIC_UPSTREAM_URL: url,
        RATE_LIMIT_PER_MINUTE: "1000000000",
      };
      const limit = { usd: 0.05 * KILLS, tokens: 20_000 * KILLS };
      let recovered = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        const service = await startProcess(settings);
        if (kill === 0) {
          await service.post("/budget/create", { project_id, scope: "project", limit, window: "month" });
          await service.post("/budget/create", {
            project_id,
            scope: "svc_user_id",
            limit: { tokens: limit.tokens / 2 },
          });
          const body = {
            model: "gpt-5",
            max_output_tokens: 20,
            input: "words ".repeat(40),
            background: true,
          };
          expect((await send(service, "/responses", body)).status).toBe(200);
        } else {
          await until(async () => (await heldRequests(service)).length > 0);
          recovered += await checkFirst(service);
        }
        expect(await heldRequests(service)).toEqual([1]);
        const clients = Array.from({ length: CLIENTS }, () => client(service));
        const enough = answered + 20 + random.next() * 40;
        await until(() => answered > enough);
        expect(overIn(await budgetsIn(service))).toEqual([]);
        await delay(random.next() * 50);
        await service.end("SIGKILL");
        await Promise.all(clients);
      }
      const service = await startProcess(settings);
      recovered += await checkFirst(service);
      expect(recovered).toBeGreaterThan(0);
      // the rest of the money
      await Promise.all(Array.from({ length: CLIENTS }, () => client(service)));
      await until(() => isRecorded(service));
      expect(await heldRequests(service)).toEqual([1]);
      isBackgroundOver = true;
      await (await fetch(`${service.url}/v1/responses/${BACKGROUND}`, { headers })).text();
      await until(() => isRecorded(service));
      const spent = await used(service);
      const budgets = await budgetsIn(service);
      expect(overIn(budgets)).toEqual([]);
      expect(budgets[0]!.spent).toEqual(spent);
      expect(budgets[0]!.spent.tokens).toBeLessThanOrEqual(limit.tokens);
      expect(await heldIn(service)).toEqual((await heldIn(service)).map(() => NOTHING));
      // the background response counts once, and what was killed before it was sent counts as sent
      expect(spent.requests).toBeLessThanOrEqual(answered + 1 + recovered);
      expect(await service.end("SIGTERM")).toBe(0);
    },
  );
});
