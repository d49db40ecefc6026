import { migrate } from "../src/clickhouse/migrate.ts";
import { readConfig } from "../src/config.ts";
import { openStore } from "../src/open-store.ts";

const config = readConfig();
const engine = await openStore(config);
const applied = await migrate(engine, { cluster: config.CLICKHOUSE_CLUSTER });
console.log(applied.length === 0 ? "Nothing to migrate." : `Applied: ${applied.join(", ")}`);
await engine.close();
