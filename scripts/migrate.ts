import { connectServer, openEmbedded } from "../src/clickhouse/connect.ts";
import { migrate } from "../src/clickhouse/migrate.ts";
import { readConfig } from "../src/config.ts";

const config = readConfig();
const engine =
  config.CLICKHOUSE_URL === undefined
    ? await openEmbedded(config.DATA_DIR)
    : connectServer({ url: config.CLICKHOUSE_URL, requestTimeoutMs: config.CLICKHOUSE_REQUEST_TIMEOUT_MS });
const applied = await migrate(engine, { cluster: config.CLICKHOUSE_CLUSTER });
console.log(applied.length === 0 ? "Nothing to migrate." : `Applied: ${applied.join(", ")}`);
await engine.close();
