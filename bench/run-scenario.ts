import { join } from "node:path";
import type { Scenario } from "./scenario.ts";

const { scenario } = (await import(join(import.meta.dirname, `${process.argv[2]!}.bench.ts`))) as {
  scenario: Scenario;
};
process.send!(await scenario.run(), () => process.exit(0));
