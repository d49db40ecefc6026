import axe from "axe-core";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSamples, PROJECT } from "../../scripts/demo/load-samples.ts";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

type Usage = Readonly<Record<string, Readonly<Record<string, number | null>>>>;

let test: TestPage;

/** Over all models; costs that are not known are left out, and counted. */
function totalOf(usage: Usage): { tokens: number; usd: number; unknown: number } {
  const all = Object.values(usage);
  const costs = all.flatMap((one) =>
    Object.entries(one).flatMap(([name, value]) => (name.endsWith("_cost") ? [value] : [])),
  );
  return {
    tokens: all.reduce((sum, one) => sum + one["total_tokens"]!, 0),
    usd: costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    unknown: costs.filter((cost) => cost === null).length,
  };
}

interface Cell {
  readonly text: string;
  /** What the hover says: every digit. */
  readonly title: string;
}
type Row = Readonly<Record<string, Cell>> & { readonly id: Cell };

/** All rows of a list, scrolled through: each cell by its classes. */
async function allRows(page: Page): Promise<readonly Row[]> {
  await page.locator(".rows .body .row").first().waitFor();
  const rows = new Map<string, Row>();
  for (;;) {
    const [seen, atEnd] = await page.evaluate(readRows);
    for (const row of seen) rows.set(row.id.text, row);
    if (atEnd) return [...rows.values()];
    await page.evaluate(scrollOn);
  }
}

function readRows(): [Row[], boolean] {
  const list = document.querySelector(".rows")!;
  const rows = [...list.querySelectorAll(".body .row")].map((row) => {
    const cells = [...row.querySelectorAll<HTMLElement>("[role=gridcell]")].map((cell) => [
      cell.className.replace("number ", ""),
      {
        text: cell.innerText,
        title: (cell.matches("[title]") ? cell : cell.querySelector("[title]"))?.getAttribute("title") ?? "",
      },
    ]);
    const which =
      row.querySelector("a")?.getAttribute("href") ??
      row.querySelector("[data-call]")?.getAttribute("data-call") ??
      "";
    return Object.fromEntries([["id", { text: row.id, title: which }], ...cells]) as Row;
  });
  return [rows, list.scrollTop + list.clientHeight >= list.scrollHeight - 1];
}

function scrollOn(): Promise<void> {
  const list = document.querySelector(".rows")!;
  list.scrollTop += list.clientHeight / 2;
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
}

/** 12.3 k, $0.0117 and their like as numbers. */
function numberOf(text: string): number {
  const [, digits = "", unit = ""] = /([\d.,]+)(?:\s([kMGT])\b)?/.exec(text) ?? [];
  return Number(digits.replaceAll(",", "")) * { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 }[unit]!;
}

function expectFigure(cell: Cell | undefined, value: number): void {
  expect(numberOf(cell!.title)).toBeCloseTo(value, 12);
  expect(Math.abs(numberOf(cell!.text) - value)).toBeLessThanOrEqual(Math.abs(value) * 0.005 + 1e-15);
}

/** The figure somewhere on the page. */
async function cellOf(place: Locator): Promise<Cell> {
  const title = await place.locator("[title]").first().getAttribute("title");
  return { text: await place.innerText(), title: title ?? "" };
}

interface UsageStats {
  readonly groups: readonly { readonly key: Record<string, string | null>; readonly total: Total }[];
  readonly buckets: readonly { readonly total: Total }[];
  readonly total: Total;
}
type Total = Readonly<Record<string, number | null>>;
interface FeedbackStats {
  readonly buckets: readonly Total[];
  readonly window_stats: Readonly<Record<string, Total>>;
}

/** Of each table its rows: what they are called, and their cells. */
function readTables(): { name: string; cells: Cell[] }[][] {
  return [...document.querySelectorAll("table")].map((table) =>
    [...table.querySelectorAll("tbody tr, tfoot tr")].map((row) => ({
      name: row.querySelector("th")!.innerText.trim(),
      cells: [...row.querySelectorAll("td")].map((cell) => ({
        text: cell.innerText,
        title: cell.querySelector("[title]")?.getAttribute("title") ?? "",
      })),
    })),
  );
}

const MEMBERS = [
  "calls",
  "errors",
  "prompt_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "completion_tokens",
  "total_tokens",
  "total_cost",
];

function expectTotal(cells: readonly Cell[], total: Total): void {
  for (const [at, member] of MEMBERS.entries()) {
    const value = total[member];
    if (value == null) expect(cells[at]!.text).toContain("—");
    else expectFigure(cells[at], value);
  }
}

function ofPath(bucket: Total, path: string): Total {
  return Object.fromEntries(
    Object.entries(bucket).flatMap(([name, value]) =>
      name.endsWith(`_${path}`) ? [[name.slice(0, -path.length - 1), value]] : [],
    ),
  );
}

function rateOf(yes: number, no: number): number | null {
  return yes + no === 0 ? null : (yes / (yes + no)) * 100;
}

const findings = async (page: Page) => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join("\n")}`);
};

describe.skipIf(chromiumPath === undefined)("the page in Chromium", () => {
  beforeAll(async () => {
    test = await startPage();
    await loadSamples(test.app, ROOT_KEY);
  });
  afterAll(() => test.close());

  const usageOf = async (filter: object): Promise<Record<string, Usage>> =>
    (await test.post("/trace/usage", { project_id: PROJECT, filter, include_costs: true })).json().call_usage;

  describe("traces", () => {
    it("have the cost and the tokens that the route says, each and in all", async () => {
      const usage = await usageOf({ trace_roots_only: true });
      const page = await test.open(`/${PROJECT}/traces?sort=cost`);
      const rows = await allRows(page);
      expect(rows.length).toBe(Object.keys(usage).length);
      const shown = rows.map((row) => {
        const traceId = /trace\/([^?]+)/.exec(decodeURIComponent(row.id.title))![1]!;
        const id = Object.keys(usage).find((one) => one.startsWith(`${traceId}-`))!;
        const { tokens, usd, unknown } = totalOf(usage[id]!);
        expectFigure(row["tokens"], tokens);
        expectFigure(row["cost"], usd);
        expect(row["cost"]!.text.startsWith("≥")).toBe(unknown > 0);
        return usd;
      });
      expect(shown).toEqual(shown.toSorted((a, b) => b - a));
      const all = Object.values(usage).map(totalOf);
      expectFigure(
        await cellOf(page.locator(".answer .sum")),
        all.reduce((sum, { usd }) => sum + usd, 0),
      );
      expectFigure(
        await cellOf(page.locator(".answer > span", { hasText: "tokens" }).first()),
        all.reduce((sum, { tokens }) => sum + tokens, 0),
      );
      await page.context().close();
    });

    it("are filtered by what becomes a query, which stands in the address", async () => {
      const page = await test.open(`/${PROJECT}/traces`);
      await page.getByRole("button", { name: "+ filter" }).click();
      await page.getByLabel("Field").fill("op_name");
      await page.getByLabel("Value").fill("refund_agent.run");
      await page.keyboard.press("Enter");
      await page.locator(".traces .body .row").getByText("refund_agent.run").waitFor();
      expect(await page.locator(".traces .body .row").count()).toBe(1);
      const again = await test.open(decodeURIComponent(new URL(page.url()).hash.slice(1)));
      await again.locator(".chip").waitFor();
      await again.locator(".traces .body .row").getByText("refund_agent.run").waitFor();
      expect(await again.locator(".traces .body .row").count()).toBe(1);
      await page.context().close();
      await again.context().close();
    });
  });

  describe("a trace", () => {
    it.each(["support-1", "report-1", "contract-1", "refund-1", "research-1"])(
      "%s has on every row the total that the route says, and own parts that add up to it",
      async (traceId) => {
        const usage = await usageOf({ trace_ids: [traceId] });
        const page = await test.open(`/${PROJECT}/trace/${traceId}`);
        const rows = await allRows(page);
        expect(rows.length).toBe(Object.keys(usage).length);
        let [ownTokens, ownUsd] = [0, 0];
        for (const row of rows) {
          const { tokens, usd, unknown } = totalOf(usage[row.id.title]!);
          expectFigure(row["tokens"], tokens);
          if (unknown > 0 && usd === 0) expect(row["cost"]!.text).toContain("—");
          else expectFigure(row["cost"], usd);
          ownTokens += numberOf(row["own own-tokens"]!.title);
          ownUsd += row["own own-usd"]!.text.includes("—") ? 0 : numberOf(row["own own-usd"]!.title);
        }
        const roots = Object.values(await usageOf({ trace_ids: [traceId], trace_roots_only: true })).map(
          totalOf,
        );
        expect(ownTokens).toBe(roots.reduce((sum, { tokens }) => sum + tokens, 0));
        expect(ownUsd).toBeCloseTo(
          roots.reduce((sum, { usd }) => sum + usd, 0),
          10,
        );
        await page.context().close();
      },
    );

    it("is walked, folded, searched and read with the keyboard alone", async () => {
      const page = await test.open(`/${PROJECT}/traces`);
      await page.locator(".traces .body .row").first().waitFor();
      for (let at = 0; at < 40; at++) {
        if (await page.evaluate(() => document.activeElement?.classList.contains("rows"))) break;
        await page.keyboard.press("Tab");
      }
      const active = page.locator(".rows .row.active");
      while (!(await active.innerText()).includes("Support agent")) await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.locator(".tree .body .row").first().waitFor();
      for (let at = 0; at < 40; at++) {
        if (await page.evaluate(() => document.activeElement?.classList.contains("tree"))) break;
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("ArrowLeft");
      expect(await page.locator(".tree .body .row").count()).toBe(1);
      await page.keyboard.press("ArrowRight");
      expect(await page.locator(".tree .body .row").count()).toBe(6);
      await page.keyboard.press("e");
      expect(await active.innerText()).toContain("track_parcel");
      await page.keyboard.press("Home");
      await page.keyboard.press("$");
      expect(await active.innerText()).toContain("anthropic.messages.create");
      await page.keyboard.press("/");
      await page.keyboard.type("guard");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      expect(await active.innerText()).toContain("guardrail");
      await page.keyboard.press("Enter");
      await page.locator(".details").waitFor();
      await page.keyboard.press("Escape");
      await page.locator(".details").waitFor({ state: "detached" });
      await page.goBack();
      await page.locator(".details").waitFor();
      await page.context().close();
    });

    it("shows what went in and out, and what was said about it", async () => {
      const page = await test.open(`/${PROJECT}/trace/support-1?call=support-1-agent&tab=input`);
      await page.locator(".long-text pre", { hasText: "Where is my parcel?" }).waitFor();
      await page.getByRole("tab", { name: "Feedback" }).click();
      await page.locator(".details td", { hasText: "answer.quality" }).waitFor();
      await page.context().close();
    });
  });

  describe.each(["llm", "op_name", "attributes.tenant"])("usage by %s", (group) => {
    it("has the numbers that the route says, for every group, every bucket and in all", async () => {
      const page = await test.open(`/${PROJECT}/usage?group=${group}&zone=Asia/Kathmandu`);
      const asked = page.waitForRequest(
        (request) =>
          request.postData()?.includes(`"group_by":[`) === true &&
          !request.postData()!.includes(`"group_by":[]`),
      );
      await page.getByRole("button", { name: "Refresh" }).click();
      const question = (await asked).postDataJSON() as { start: string };
      await page.waitForLoadState("networkidle");
      const stats = (await test.post("/usage/stats", question)).json() as UsageStats;
      const [groups, buckets] = await page.evaluate(readTables);
      expect(groups!.map(({ name }) => name.split(/\s+\d/)[0])).toEqual([
        ...stats.groups.map(({ key }) => Object.values(key)[0] ?? "(none)"),
        "all",
      ]);
      const totals = [...stats.groups.map(({ total }) => total), stats.total];
      for (const [at, { cells }] of groups!.entries()) expectTotal(cells, totals[at]!);
      expect(buckets).toHaveLength(stats.buckets.length);
      for (const [at, { cells }] of buckets!.entries()) expectTotal(cells, stats.buckets[at]!.total);
      expectFigure(await cellOf(page.locator(".answer .sum")), stats.total["total_cost"]!);
      await page.context().close();
    });
  });

  describe.each(["score", "passed", "label"])("feedback at %s", (path) => {
    it("has the numbers that the route says, for every bucket and in all", async () => {
      const page = await test.open(`/${PROJECT}/feedback?path=${path}&zone=Europe/Berlin`);
      const asked = page.waitForRequest("**/feedback/stats");
      await page.getByRole("button", { name: "Refresh" }).click();
      const question = (await asked).postDataJSON() as object;
      await page.waitForLoadState("networkidle");
      const { buckets, window_stats } = (
        await test.post("/feedback/stats", question)
      ).json() as FeedbackStats;
      const rows = (await page.evaluate(readTables)).at(-1)!;
      const shown = rows.map(({ cells }) =>
        cells.map(({ text, title }) => (text.includes("—") ? null : numberOf(title))),
      );
      const expected = [window_stats[path]!, ...buckets.map((bucket) => ofPath(bucket, path))].map(
        (values) =>
          ({
            score: ["avg", "p10", "p50", "p90", "min", "max", "count"].map((name) => values[name] ?? null),
            label: [values["count"] ?? null],
            passed: [
              values["count_true"]!,
              values["count_false"]!,
              rateOf(values["count_true"]!, values["count_false"]!),
            ],
          })[path],
      );
      expect(shown).toEqual(expected);
      await page.context().close();
    });
  });

  it("keeps the key in the tab, out of the address and out of what stays", async () => {
    const page = await test.open(`/${PROJECT}/traces`);
    await page.locator(".traces .body .row").first().waitFor();
    expect(page.url()).not.toContain(ROOT_KEY);
    const stored = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), document.cookie, Object.entries(sessionStorage)]),
    );
    const [local, cookie, session] = JSON.parse(stored) as [object, string, [string, string][]];
    expect(JSON.stringify([local, cookie])).not.toContain(ROOT_KEY);
    expect(session.map(([, value]) => value)).toEqual([ROOT_KEY]);
    await page.getByRole("button", { name: "Leave" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    await page.context().close();
  });

  const places = {
    traces: `/${PROJECT}/traces`,
    "a trace with details": `/${PROJECT}/trace/contract-1?call=contract-1-classify`,
    "a failed trace": `/${PROJECT}/trace/refund-1?call=refund-1-agent`,
    "a live trace": `/${PROJECT}/trace/research-1`,
    "an empty window": `/${PROJECT}/traces?window=2020-01-01T00:00:00Z..2020-01-02T00:00:00Z`,
    usage: `/${PROJECT}/usage`,
    feedback: `/${PROJECT}/feedback?path=label`,
    "no key": null,
  };
  describe.each(["light", "dark"] as const)("in %s", (colorScheme) => {
    it.each(Object.entries(places))("%s: axe finds nothing, wide and on a phone", async (_name, place) => {
      const page = await test.open(place ?? "/", { colorScheme, ...(place === null && { key: null }) });
      await page.waitForLoadState("networkidle");
      expect(await findings(page)).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await findings(page)).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow).toBeLessThanOrEqual(0);
      await page.context().close();
    });
  });

  it("/docs loads nothing from elsewhere", async () => {
    const page = await test.open("/", { key: null });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(`${test.url}/docs`);
    await page.locator("#operations-tag-usage").waitFor();
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter((url) => !url.startsWith(test.url) && !url.startsWith("data:"))).toEqual([]);
    await page.context().close();
  });
});
