import { inChild } from "./load/in-child.ts";
import type { GetTask } from "./load/get.ts";
import { spreadOf, type Scenario, type ScenarioResult } from "./scenario.ts";
import { startService } from "./service.ts";

const PATHS = ["/readyz", "/openapi.json", "/docs", "/docs/static/swagger-ui.css"];
const COUNT = 2000;
const AT_ONCE = 50;
const ROUNDS = 5;
/** Cost limit, relative to a request with a two-word response. */
const MOST = 4;

/** Measures the processor time of a request without a key, in µs. */
async function costOf(url: string): Promise<number> {
  const task: GetTask = { url, count: COUNT, atOnce: AT_ONCE };
  const before = process.cpuUsage();
  await inChild("get.ts", task);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / COUNT;
}

export const scenario: Scenario = {
  name: "public",
  async run() {
    const service = await startService();
    const samples = new Map(["/healthz", ...PATHS].map((path) => [path, [] as number[]]));
    for (let round = -1; round < ROUNDS; round++) {
      for (const [path, costs] of samples) {
        const cost = await costOf(service.url + path);
        if (round >= 0) costs.push(cost);
      }
    }
    await service.close();
    const against = { what: "`/healthz`", spread: spreadOf(samples.get("/healthz")!) };
    return PATHS.map((path): ScenarioResult => {
      const subject = spreadOf(samples.get(path)!);
      const used = subject.median / (MOST * against.spread.median);
      const what = `\`${path}\` without a key, ${AT_ONCE} at once, processor time`;
      return { what, subject, against, unit: "µs", target: { text: `≤ ${MOST} ×`, used } };
    });
  },
};
