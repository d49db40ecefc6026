import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Before all tests: what they keep in the directory for temporary files goes when the last one is over. */
export function setup(): () => void {
  const before = tmpdir();
  const dir = mkdtempSync(join(before, "sumtree-tests-"));
  // services of other users find their way
  chmodSync(dir, 0o711);
  process.env["TMPDIR"] = dir;
  return () => {
    process.env["TMPDIR"] = before;
    rmSync(dir, { recursive: true, force: true });
  };
}
