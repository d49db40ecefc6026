import { reshardStore } from "../src/store/cluster/shards/reshard-store.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openOtherStore, openStore } from "../src/open-store.ts";
import { argumentsOr, orExit } from "./command-line.ts";

const USAGE = `Copy a store of a cluster into another database of it, as when shards have been added.

  npm run reshard -- <database of the store to copy>

CLICKHOUSE_URL names the database to copy into. No service may use either of them.`;

const { values, positionals } = argumentsOr(USAGE, { help: { type: "boolean", short: "h" } });
const [from] = positionals;
if (values.help === true || from === undefined || positionals.length > 1) {
  console.log(USAGE);
  process.exit(values.help === true ? 0 : 2);
}

await orExit(async (config) => {
  const cluster = config.CLICKHOUSE_CLUSTER;
  if (cluster === undefined) throw new Error("CLICKHOUSE_CLUSTER is not set: only a cluster has shards.");
  const engine = await openStore(config);
  const source = await openOtherStore(config, from);
  try {
    await migrate(engine, { cluster });
    await reshardStore(engine, {
      source,
      from,
      cluster,
      report: (table, rows) => console.log(`${table}: ${rows} rows`),
    });
    console.log(`The copy is complete. When the services use it, drop the database ${from}.`);
  } finally {
    await engine.close();
    await source.close();
  }
});
