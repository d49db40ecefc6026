import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentPoint } from "../../src/agent-metrics/agent-point.ts";
import { createPointStore } from "../../src/agent-metrics/point-store.ts";
import { FairSemaphore } from "../../src/fairness/fair-semaphore.ts";
import type { Project } from "../../src/shared/project.ts";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { expectAccessible } from "./accessible.ts";
import { readTables, show, untilIdle } from "./reading.ts";

const PROJECT = "acme/agents";

let test: TestPage;

describe.skipIf(chromiumPath === undefined)("what coding agents report, in Chromium", () => {
  beforeAll(async () => {
    test = await startPage();
    const at = Date.now() - 60_000;
    const repository = (name: string) => ({ vcs: { repository: { name } } });
    const batch = ["acme/web", "acme/web", "acme/api"].map((name, index) => ({
      id: `call-${index}`,
      trace_id: `trace-${index}`,
      op_name: "claude_code.api_request",
      started_at: new Date(at).toISOString(),
      ended_at: new Date(at + 1000).toISOString(),
      attributes: repository(name),
      inputs: {},
      output: null,
      summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 400_000, completion_tokens: 0 } } },
    }));
    const stored = await test.post(`/v2/${PROJECT}/calls/complete`, { batch });
    expect(stored.json()).toEqual({ rejected: [] });
    const point = (outcome: AgentPoint["outcome"], value: number): AgentPoint => ({
      project_id: PROJECT as Project,
      outcome,
      is_delta: 1,
      series: outcome,
      started_at_us: 0,
      at_us: at * 1000,
      value,
      thread_id: "",
      svc_user_id: "",
      api_key: "",
      attributes: JSON.stringify(repository("acme/web")),
    });
    const store = createPointStore(test.engine, {
      lingerMs: 1,
      pending: new FairSemaphore({ capacity: 1e6 }),
    });
    await store.write([point("commits", 4), point("active_seconds", 7200), point("lines_added", 120)]);
  });
  afterAll(() => test?.close());

  it("stands beside the cost of the same groups, in one click; what no agent reports is a dash", async () => {
    const page = await test.open(`/${PROJECT}/usage?of=calls`);
    await untilIdle(page);
    expect(await page.getByRole("columnheader", { name: "commits" }).count()).toBe(0);
    await page.getByRole("button", { name: "Repo", exact: true }).click();
    await page.getByRole("columnheader", { name: "$ per commit" }).waitFor();
    const heads = await page.locator("thead th, thead td").allInnerTexts();
    const from = heads.findIndex((head) => head.startsWith("$ per commit"));
    const [rows] = await page.evaluate(readTables);
    const outcomes = rows!.map(({ name, cells }) => [
      name.split(" ")[0],
      ...cells.slice(from - 1, from + 6).map(({ text }) => text.split(/\s*not known/u)[0]),
    ]);
    const web = ["4", "—", "2 h 00 min", "120", "—", "—"];
    expect(outcomes).toEqual([
      // two of the three calls of $1.00
      ["acme/web", "$0.500", ...web],
      ["acme/api", "—", "—", "—", "—", "—", "—", "—"],
      ["all", "$0.750", ...web],
    ]);
    await expectAccessible(page, "usage with outcomes of agents");
    await page.setViewportSize({ width: 1280, height: 760 });
    // not all of what agents did is of what a search finds
    await show(page, `/${PROJECT}/usage?of=calls&group=attributes.vcs.repository.name&q=model:gpt-4o`);
    await page.getByRole("columnheader", { name: "$ per commit" }).waitFor({ state: "detached" });
    await page.context().close();
  });
});
