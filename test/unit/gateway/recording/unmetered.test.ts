import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { createUnmetered } from "../../../../src/gateway/metrics.ts";

it("unmetered requests are logged at once, then with their number once a minute, for each pattern", async () => {
  const lines: unknown[] = [];
  const log = pino(
    { base: null, timestamp: false },
    { write: (line: string) => lines.push(JSON.parse(line)) },
  );
  const registry = new Registry();
  let now = 1000;
  const report = createUnmetered(registry, { now: () => now }, log);
  for (const [path, afterMs] of [
    ["/a", 0],
    ["/a", 0],
    ["/b", 0],
    ["/a", 59_999],
    ["/a", 1],
    ["/b", 60_000],
  ] as const) {
    now += afterMs;
    report(path);
  }
  expect(lines).toMatchObject([
    { path: "/a", count: 1 },
    { path: "/b", count: 1 },
    { path: "/a", count: 3 },
    { path: "/b", count: 1 },
  ]);
  expect(await registry.metrics()).toContain('sumtree_gateway_unmetered_total{path="/a"} 4');
});
