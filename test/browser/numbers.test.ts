import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { allRows, cellOf, downloadCsv, expectFigure, expectOwn, numberOf, untilIdle } from "./reading.ts";

const PROJECT = "acme/numbers";
const COMPLETION = "chatcmpl-AbC0dEf1GhI2jKl3MnO4pQr5StU6V";

type Usage = Readonly<Record<string, Readonly<Record<string, number | null>>>>;

let test: TestPage;

function call(id: string, more: object = {}): object {
  const began = Date.now() - 60_000;
  return {
    id,
    trace_id: "shared",
    parent_id: id === "root" ? null : "root",
    op_name: id.startsWith("search") ? "search" : id,
    started_at: new Date(began).toISOString(),
    ended_at: new Date(began + 1000).toISOString(),
    attributes: {},
    inputs: {},
    summary: {},
    ...more,
  };
}

function telling(completion: string, prompt: number): object {
  return {
    output: { id: completion, model: "gpt-4o", choices: [] },
    summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: prompt, completion_tokens: 10 } } },
  };
}

/** Four searches, of which two tell of one completion, and an agent that tells of it as well. */
const SHARED = [
  call("root"),
  call("agent", telling(COMPLETION, 1000)),
  call("search-1", { ...telling(COMPLETION, 1000), exception: "Error: first" }),
  call("search-2", telling(COMPLETION, 1000)),
  call("search-3", telling(`${COMPLETION}2`, 300)),
  call("search-4", { exception: "Error: second" }),
];

function totalOf(usage: Usage): { tokens: number; usd: number } {
  const all = Object.values(usage);
  const sum = (name: string) => all.reduce((sum, one) => sum + (one[name] ?? 0), 0);
  const costs = [
    "prompt_tokens",
    "completion_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
  ];
  return {
    tokens: sum("total_tokens"),
    usd: costs.reduce((usd, name) => usd + sum(`${name}_total_cost`), 0),
  };
}

describe.skipIf(chromiumPath === undefined)("numbers of the web UI in Chromium", () => {
  beforeAll(async () => {
    test = await startPage();
    const stored = await test.post(`/v2/${PROJECT}/calls/complete`, { batch: SHARED });
    expect(stored.json()).toEqual({ rejected: [] });
  });
  afterAll(() => test.close());

  const usageOf = async (more: object): Promise<Record<string, Usage>> =>
    (
      await test.post("/trace/usage", {
        project_id: PROJECT,
        filter: { trace_ids: ["shared"] },
        include_costs: true,
        ...more,
      })
    ).json().call_usage;

  it("equal those of the API if several calls report one completion, also for groups", async () => {
    const [usage, own] = [await usageOf({}), await usageOf({ own_only: true })];
    const page = await test.open(`/${PROJECT}/trace/shared?groups=open`);
    const rows = await allRows(page);
    const calls = rows.filter((row) => row.id.title !== "");
    expect(new Set(calls.map((row) => row.id.title))).toEqual(new Set(Object.keys(usage)));
    for (const row of calls) {
      const [total, itself] = [totalOf(usage[row.id.title]!), totalOf(own[row.id.title]!)];
      expectFigure(row["tokens"], total.tokens);
      expectFigure(row["cost"], total.usd);
      expectOwn(row["own-tokens"], itself.tokens, total.tokens);
      expectOwn(row["own-cost"], itself.usd, total.usd);
    }
    const searches = Object.entries(own).filter(([id]) => id.startsWith("search"));
    const group = rows.find((row) => row.id.title === "");
    expect(group!["name"]!.text).toContain("×4");
    expectFigure(
      group!["tokens"],
      searches.reduce((sum, [, one]) => sum + totalOf(one).tokens, 0),
    );
    // each of them has all of the completion in its total
    const totals = calls.reduce((sum, row) => sum + numberOf(row["tokens"]!.title), 0);
    const root = totalOf(usage["root"]!);
    expect(root.tokens).toBe(1320);
    expect(totals).toBeGreaterThan(2 * root.tokens);
    expectFigure(await cellOf(page.locator(".answer .sum")), root.usd);
    await page.context().close();
  });

  it("of the window, of a trace and over time are equal", async () => {
    const { usd } = totalOf((await usageOf({}))["root"]!);
    for (const place of [
      "traces",
      "traces?sort=cost",
      "trace/shared",
      "usage",
      "usage?group=op_name",
      "overview",
    ]) {
      const page = await test.open(`/${PROJECT}/${place}`);
      const sum = page.locator(place === "overview" ? ".figures .value" : ".answer .sum").first();
      await sum.locator("[title]").waitFor();
      await untilIdle(page);
      expectFigure(await cellOf(sum), usd);
      await page.context().close();
    }
  });

  it("of traces are loaded page by page while scrolling, and completely for a file", async () => {
    const [project, count] = ["acme/many", 120];
    const began = Date.now() - 600_000;
    const batch = Array.from({ length: count }, (_, at) =>
      call(`many-${at}`, {
        ...telling(`${COMPLETION}${at}`, 1000 + at),
        trace_id: `many-${at}`,
        parent_id: null,
        started_at: new Date(began + at * 1000).toISOString(),
      }),
    );
    expect((await test.post(`/v2/${project}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
    const page = await test.open(`/${project}/traces`);
    await untilIdle(page);
    const row = (id: string) =>
      page.locator(".traces .body .row", { has: page.locator(`a[href$="trace/${id}"]`) });
    const tokens = (id: string) => row(id).locator(".tokens [title]");
    const newest = `many-${count - 1}`;
    expect(await tokens(newest).getAttribute("title")).toBe((1010 + count - 1).toLocaleString("en"));
    expect(await page.locator(".rows").getAttribute("aria-rowcount")).toBe(String(count + 1));
    await expect
      .poll(async () => {
        await page.keyboard.press("End");
        return row("many-0").count();
      })
      .toBe(1);
    expect(await tokens("many-0").getAttribute("title")).toBe("1,010");
    // back from a trace, the same row is in sight, and chosen, and the list has the focus
    const topPx = await page.locator(".rows").evaluate((rows) => rows.scrollTop);
    await page.keyboard.press("Enter");
    await page.locator(".rows.tree").waitFor();
    await page.goBack();
    await row("many-0").waitFor();
    expect(await row("many-0").evaluate((element) => element.classList.contains("active"))).toBe(true);
    expect(await page.locator(".rows.traces:focus").evaluate((rows) => rows.scrollTop)).toBe(topPx);
    const column = await downloadCsv(page);
    expect(column("total_tokens").map(Number)).toEqual(batch.map((_, at) => 1010 + at).toReversed());
    await page.context().close();
  });
});
