import { migrate } from "../src/store/schema/migrate.ts";
import { openStore } from "../src/open-store.ts";
import { orExit } from "./command-line.ts";

await orExit(async (config) => {
  const engine = await openStore(config);
  try {
    const onWait = (problem: string): void => console.error(`Waiting for the store's servers: ${problem}.`);
    const applied = await migrate(engine, { cluster: config.CLICKHOUSE_CLUSTER, onWait });
    console.log(applied.length === 0 ? "Nothing to migrate." : `Applied: ${applied.join(", ")}`);
  } finally {
    await engine.close();
  }
});
