import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { buildApp, type App } from "../src/app.ts";
import { generateKey } from "../src/auth/api-key.ts";
import { openEmbedded } from "../src/clickhouse/connect.ts";
import { migrate } from "../src/clickhouse/migrate.ts";
import type { Config } from "../src/config.ts";
import { startReferenceUpstream } from "../test/helpers/reference-upstream/server.ts";
import { orExit } from "./command-line.ts";
import { requestsToPaste } from "./demo/requests.ts";
import { scoreOf } from "./demo/sample-feedback.ts";
import { failedRun, longContextRun, runningAgent, sdkRun, supportRun } from "./demo/sample-traces.ts";

const PROJECT = "acme/demo";
const HOUR_MS = 3_600_000;

await orExit(async (settings) => {
  const dataDir = mkdtempSync(join(tmpdir(), "sumtree-demo-"));
  const engine = await openEmbedded(dataDir);
  await migrate(engine, { cluster: undefined });
  const upstream = settings.TRAINING_UPSTREAM_URL === undefined ? await startReferenceUpstream() : undefined;
  const config = { ...settings, DATA_DIR: dataDir, ...(upstream && { TRAINING_UPSTREAM_URL: upstream.url }) };
  const rootKey = config.ROOT_API_KEY ?? generateKey().text;
  const app = await buildApp(config, { engine, rootKey, logger: pino({ level: "warn" }) });
  await loadSamples(app, rootKey);
  const url = await listen(app, config);
  console.log(requestsToPaste({ url, key: rootKey, project: PROJECT }));
  const stop = async (): Promise<void> => {
    await app.close();
    await upstream?.close();
    await engine.close();
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
});

/** The samples come in the way any client's data comes in: over the API. */
async function loadSamples(app: App, rootKey: string): Promise<void> {
  const now = Date.now();
  const runs = Array.from({ length: 48 }, (_, run) => ({
    id: `support-${run + 1}`,
    atMs: now - (run + 1) * HOUR_MS,
  }));
  const calls = [
    ...runs.flatMap(({ id, atMs }) => supportRun(id, atMs, "Where is my parcel?")),
    ...sdkRun("report-1", now - 2 * HOUR_MS),
    ...longContextRun("contract-1", now - 3 * HOUR_MS),
    ...failedRun("refund-1", now - 4 * HOUR_MS),
    ...runningAgent("research-1", now - 60_000),
  ];
  await post(app, rootKey, `/v2/${PROJECT}/calls/complete`, { batch: calls });
  const scores = runs.map(({ id, atMs }) => scoreOf(PROJECT, `${id}-agent`, atMs + 10_000));
  await post(app, rootKey, "/feedback/batch/create", { batch: scores });
}

async function post(app: App, key: string, path: string, body: object): Promise<void> {
  const response = await app.inject({
    method: "POST",
    url: path,
    headers: { authorization: `Bearer ${key}` },
    payload: body,
  });
  const { rejected = [] } = response.json<{ rejected?: readonly unknown[] }>();
  if (response.statusCode !== 200 || rejected.length > 0) {
    throw new Error(`${path} answered ${response.statusCode}: ${response.payload}`);
  }
}

/** The configured port, or any free one when somebody else has it. */
async function listen(app: App, config: Config): Promise<string> {
  try {
    return await app.listen({ host: config.HOST, port: config.PORT });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    return app.listen({ host: config.HOST, port: 0 });
  }
}
