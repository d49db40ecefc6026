import { migrate } from "../src/store/schema/migrate.ts";
import { verifyRollup, rebuildRollup } from "../src/usage-rollup/verify-rollup.ts";
import { openStore } from "../src/open-store.ts";
import { HOUR_MICROS } from "../src/shared/instant.ts";
import { argumentsOr, orExit } from "./command-line.ts";

const USAGE = `The usage rollup: hourly pre-aggregated usage, which makes /usage/stats fast.

  npm run usage-rollup -- check     folds every hour again; exit code 1 and the hours that differ
  npm run usage-rollup -- rebuild   materializes every hour again

The service maintains the rollup by itself. Stop a service with an embedded store first.`;

const { values, positionals } = argumentsOr(USAGE, { help: { type: "boolean", short: "h" } });
const [name] = positionals;
if (values.help === true) {
  console.log(USAGE);
  process.exit(0);
}
if ((name !== "check" && name !== "rebuild") || positionals.length > 1) {
  console.error(USAGE);
  process.exit(2);
}
/** Never aborted. */
const { signal } = new AbortController();

await orExit(async (config) => {
  const engine = await openStore(config);
  try {
    await migrate(engine, { cluster: config.CLICKHOUSE_CLUSTER });
    if (name === "rebuild") {
      const { materialized, live } = await rebuildRollup({
        engine,
        runExclusive: (work) => work(),
        signal,
      });
      console.log(`${materialized} hours materialized, ${live} left to be aggregated at query time.`);
      return;
    }
    const { materialized, live, different } = await verifyRollup(engine, signal);
    for (const { project, hour } of different)
      console.log(`different: ${project} ${new Date((hour * HOUR_MICROS) / 1000).toISOString()}`);
    console.log(
      `${materialized} hours materialized, ${different.length} of them different; ${live} aggregated at query time.`,
    );
    if (different.length > 0) process.exitCode = 1;
  } finally {
    await engine.close();
  }
});
