import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { hasProgram } from "../helpers/has-program.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const documented = new Set(
  [...read("docs/operate/monitoring.md").matchAll(/^\| (`sumtree_[^|]+)\|/gm)].flatMap((row) =>
    [...row[1]!.matchAll(/`(\w+)`/g)].map((match) => match[1]!),
  ),
);

/** Names in an expression, without what a histogram adds. */
function metricsIn(expression: string): string[] {
  return [...expression.matchAll(/\bsumtree_\w+/g)].map((match) =>
    match[0].replace(/_(bucket|count|sum)$/, ""),
  );
}

/** The anchors of a page, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { alert: string; expr: string; annotations: { runbook: string } }[];
  }[];
}
const rules = (parse(read("deploy/prometheus/sumtree.rules.yml")) as Rules).groups.flatMap(
  (group) => group.rules,
);

describe("the rules for Prometheus", () => {
  it.each(rules)("$alert uses an existing metric, and links to a remedy", ({ expr, annotations }) => {
    for (const name of metricsIn(expr)) expect(documented).toContain(name);
    const [page = "", anchor] = annotations.runbook.split("#");
    expect(existsSync(join(ROOT, page)), page).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(page)).toContain(anchor);
  });

  it.runIf(hasProgram("promtool"))("pass promtool's tests", () => {
    const run = (...args: string[]) =>
      spawnSync("promtool", args, { cwd: join(ROOT, "deploy/prometheus"), encoding: "utf8" });
    expect(run("check", "rules", "sumtree.rules.yml").stderr).toBe("");
    const tested = run("test", "rules", "sumtree.rules.test.yml");
    expect([tested.status, tested.stdout]).toEqual([0, expect.stringContaining("SUCCESS")]);
  });
});

describe("the dashboard for Grafana", () => {
  const { panels } = JSON.parse(read("deploy/grafana/sumtree.json")) as {
    panels: readonly { id: number; title: string; targets: readonly { expr: string }[] }[];
  };
  it.each(panels)("$title shows existing metrics", ({ targets }) => {
    for (const { expr } of targets) for (const name of metricsIn(expr)) expect(documented).toContain(name);
  });
});

describe("the configurations of other programs", () => {
  it("the unit names files of the package", () => {
    const unit = read("deploy/systemd/sumtree.service");
    expect(unit).toContain("ExecStart=/opt/sumtree/node_modules/.bin/sumtree\n");
    expect(JSON.parse(read("package.json"))).toMatchObject({ bin: { sumtree: "bin/sumtree.js" } });
    expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)![1])).toBeGreaterThan(30);
  });
});

describe("the workflows", () => {
  const files = readdirSync(join(ROOT, ".github/workflows"));
  it.each(files)("%s pins actions to one version each, with the least rights", (file) => {
    const text = read(`.github/workflows/${file}`);
    const workflow = parse(text) as { permissions: object; jobs: object };
    expect(workflow.permissions).toEqual({ contents: "read" });
    for (const [, action] of text.matchAll(/uses: (\S+)/g))
      expect(action).toMatch(/^(\.\/|[\w-]+\/[\w-]+@v\d+\.\d+\.\d+$)/);
    for (const [, path] of text.matchAll(/run: (\.\S+)/g)) expect(existsSync(join(ROOT, path!))).toBe(true);
  });
});
