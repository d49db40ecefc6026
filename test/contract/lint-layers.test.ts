import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const REFUSED = {
  "src/trace-usage/response/json/deep.ts": `import "../../feedback/routes.ts";`,
  "src/ingest/otlp/one.ts": `import "../../gateway/routes.ts";`,
  "src/gateway/relay/deep.ts": `import "../../trace-usage/plan.ts";`,
  "src/gateway/relay/calls-out.ts": `import "undici";`,
  "src/trace-usage/fold/deep.ts": `import "../../http/errors.ts";`,
  "src/http/openapi/deep.ts": `import "../../gateway/routes.ts";`,
  "src/calls/write/metrics.ts": `import "../../service-metrics.ts";`,
  "src/calls/write/answers.ts": `import "../../http/errors.ts";`,
  "src/prices/up.ts": `import "../trace-usage/plan.ts";`,
  "src/admin/backups/settings.ts": `import "../../config.ts";`,
  "src/shared/up.ts": `import "../query/sql.ts";`,
  "src/query/reads.ts": `import "node:fs";`,
  "src/prices/drives.ts": `import "chdb";`,
  "src/prices/answers.ts": `import "fastify";`,
  "src/feedback/stats/plan.ts": `import "fastify";`,
};

const ALLOWED = {
  "src/trace-usage/response/routes.ts": `import "fastify";\nimport "../plan.ts";\nimport "../../http/errors.ts";`,
  "src/gateway/relay/upstream.ts": `import "undici";`,
  "src/gateway/stream/near.ts": `import "../relay/response.ts";`,
  "src/store/drives.ts": `import "chdb";`,
  "src/http/metrics.ts": `import "../version.ts";`,
  "src/prices/routes/cost-routes.ts": `import "fastify";`,
  "src/app.ts": `import "./gateway/routes.ts";`,
};

let tree: string;
let flagged: ReadonlySet<string>;

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), "sumtree-layers-"));
  copyFileSync("oxlint.config.ts", join(tree, "oxlint.config.ts"));
  symlinkSync(join(process.cwd(), "node_modules"), join(tree, "node_modules"));
  for (const [file, text] of Object.entries({ ...REFUSED, ...ALLOWED })) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), `${text}\n`);
  }
  flagged = new Set(
    linted()
      .filter(isAboutImports)
      .map(({ filename }) => filename),
  );
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

describe("the layers of src", () => {
  it.each(Object.entries(REFUSED))("%s must not import: %s", (file) => {
    expect(flagged).toContain(file);
  });

  it.each(Object.entries(ALLOWED))("%s may import: %s", (file) => {
    expect(flagged).not.toContain(file);
  });
});

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

function isAboutImports({ code }: Diagnostic): boolean {
  return code.includes("no-restricted-imports");
}

/** Exits with 1 when it finds something, as it does here. */
function linted(): readonly Diagnostic[] {
  try {
    execFileSync("npx", ["oxlint", "--format=json", "src"], { cwd: tree, encoding: "utf8", stdio: "pipe" });
    return [];
  } catch (error) {
    const { stdout } = error as { stdout: string };
    return (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics;
  }
}
