import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { buildApp, type App } from "../src/app.ts";
import { generateKey } from "../src/http/auth/api-key.ts";
import { openEmbedded } from "../src/store/connect.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import type { Config } from "../src/config.ts";
import { startReferenceUpstream } from "../test/helpers/reference-upstream/server.ts";
import { orExit } from "./command-line.ts";
import { loadSamples, loadTraining, PROJECT } from "./demo/load-samples.ts";
import { requestsToPaste } from "./demo/requests.ts";

await orExit(async (settings) => {
  const dataDir = mkdtempSync(join(tmpdir(), "sumtree-demo-"));
  const engine = await openEmbedded(dataDir);
  await migrate(engine, { cluster: undefined });
  const upstream = settings.TRAINING_UPSTREAM_URL === undefined ? await startReferenceUpstream() : undefined;
  const config = { ...settings, DATA_DIR: dataDir, ...(upstream && { TRAINING_UPSTREAM_URL: upstream.url }) };
  const rootKey = config.ROOT_API_KEY ?? generateKey().text;
  const app = await buildApp(config, { engine, rootKey, logger: pino({ level: "warn" }) });
  const url = await listen(app, config);
  await loadSamples({ url, key: rootKey });
  if (upstream !== undefined) await loadTraining({ url, key: rootKey });
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

/** The configured port, or any free one if it is taken. */
async function listen(app: App, config: Config): Promise<string> {
  try {
    return await app.listen({ host: config.HOST, port: config.PORT });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    return app.listen({ host: config.HOST, port: 0 });
  }
}
