import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbedded } from "../../src/store/connect.ts";
import { describeEngine, testLimits } from "./conformance.ts";

describeEngine("the embedded engine", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sumtree-engine-"));
  const engine = await openEmbedded(dir, { limits: testLimits });
  return {
    engine,
    async close() {
      await engine.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
});
