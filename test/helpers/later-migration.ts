import type { Engine } from "../../src/store/engine.ts";
import type { Migration } from "../../src/store/schema/migrations.ts";
import { interceptStatements } from "./intercept-statements.ts";

/** A migration that could come after 1.0: it makes a table, fills it, widens another one and replaces its rows. */
export const LATER: Migration = {
  name: "0001_count_models.sql",
  text: `-- What was used of each model.
    CREATE TABLE IF NOT EXISTS models {{on_cluster}}
    (project_id String, hour Int32, trace_id String, id String, usage String)
    ENGINE = {{engine:ReplacingMergeTree}} ORDER BY (project_id, hour, trace_id, id);

    INSERT INTO models (project_id, hour, trace_id, id, usage)
    SELECT project_id, hour, trace_id, id, assumeNotNull(usage) FROM calls FINAL WHERE usage != '[]' AND {{not_applied}};

    ALTER TABLE llm_prices {{on_cluster}} ADD COLUMN IF NOT EXISTS currency String DEFAULT 'USD';

    INSERT INTO llm_prices SELECT * REPLACE ('EUR' AS currency) FROM llm_prices FINAL
    WHERE llm_id = 'gpt-4o' AND {{not_applied}};
`,
};

export class Interruption extends Error {}

/** Stops before a statement when `isLast` says so. */
export function interruptBefore(engine: Engine, isLast: () => boolean): Engine {
  return interceptStatements(engine, async (_name, run) => {
    if (isLast()) throw new Interruption();
    return await run();
  });
}
