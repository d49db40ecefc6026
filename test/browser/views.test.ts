import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSamples, PROJECT } from "../../scripts/demo/load-samples.ts";
import { formatCount } from "../../web/format/figure.ts";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { isLong } from "../helpers/runs.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { expectAccessible, LOOKS, type Look } from "./accessible.ts";
import {
  allRows,
  cellOf,
  expectFigure,
  expectOwn,
  numberOf,
  readTables,
  show,
  untilIdle,
  type Cell,
  type Row,
} from "./reading.ts";

type Usage = Readonly<Record<string, Readonly<Record<string, number | null>>>>;

/** One look at each of many places, another one at the next; in the long run all of them. */
function looksOf(at: number): readonly Look[] {
  return isLong ? LOOKS : [LOOKS[at % LOOKS.length]!];
}

let test: TestPage;
/** One tab for all that is only looked at. */
let page: Page;
/** The same for the page and for whoever asks the service beside it. */
let from: string;
let until: string;

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

function traceIdOf(row: Row): string {
  return /trace\/([^?]+)/.exec(decodeURIComponent(row.id.title))![1]!;
}

describe.skipIf(chromiumPath === undefined)("the web UI in Chromium", () => {
  beforeAll(async () => {
    test = await startPage();
    await loadSamples({ url: test.url, key: ROOT_KEY });
    for (const [scope, limit] of Object.entries({
      project: { requests: 20 },
      llm: { usd: 1, tokens: 100_000 },
    }))
      await test.post("/budget/create", { project_id: PROJECT, scope, limit });
    from = new Date(Date.now() - 3 * 86_400_000).toISOString();
    until = new Date().toISOString();
    page = await test.open(`/${PROJECT}/traces`);
  });
  afterAll(() => test.close());

  const usageOf = async (filter: object, more: object = {}): Promise<Record<string, Usage>> =>
    (await test.post("/trace/usage", { project_id: PROJECT, filter, include_costs: true, ...more })).json()
      .call_usage;

  const callsOf = async (): Promise<readonly { trace_id: string; exception: string | null }[]> => {
    const { text } = await test.post("/calls/stream_query", {
      project_id: PROJECT,
      columns: ["trace_id", "exception"],
    });
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  };

  describe("traces", () => {
    it("have the cost and the tokens of the API, each and in total", async () => {
      const usage = await usageOf({ trace_roots_only: true });
      await show(page, `/${PROJECT}/traces?sort=cost`);
      const rows = await allRows(page);
      expect(rows.length).toBe(Object.keys(usage).length);
      const shown = rows.map((row) => {
        const id = Object.keys(usage).find((one) => one.startsWith(`${traceIdOf(row)}-`))!;
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
    });

    it("are counted by facets, whose clicks list as many", async () => {
      await show(page, `/${PROJECT}/traces`);
      const start = new Date(Date.now() - 7 * 86_400_000).toISOString();
      const countOf = async (selection: object): Promise<number> =>
        (await test.post("/traces/query", { project_id: PROJECT, start, ...selection })).json().total.traces;
      const ofUser = (not: boolean) => {
        const isAna = { $eq: [{ $getField: "svc_user_id" }, { $literal: "ana" }] };
        return { query: { $expr: not ? { $not: [isAna] } : isAna } };
      };
      const found = (
        await test.post("/traces/facets", { project_id: PROJECT, start, fields: ["svc_user_id", "llm"] })
      ).json().facets as { values: { value: string | null; traces: number }[] }[];
      for (const [at, name] of ["User", "Model of any call"].entries()) {
        const lines = page.getByRole("region", { name, exact: true }).locator("li > a:first-child");
        await lines.first().waitFor();
        const counts = (await lines.locator(".number:nth-of-type(1)").allInnerTexts()).map(Number);
        expect(counts).toEqual(found[at]!.values.map(({ traces }) => traces));
      }
      const line = page
        .getByRole("region", { name: "User", exact: true })
        .locator("li > a:first-child", { hasText: "ana" });
      const listed = async (selection: object, chip: string | undefined): Promise<void> => {
        if (chip === undefined) await page.locator(".chip").waitFor({ state: "detached" });
        else await page.locator(".chip", { hasText: chip }).waitFor();
        await untilIdle(page);
        expect(numberOf(await page.locator(".answer > span").nth(1).innerText())).toBe(
          await countOf(selection),
        );
      };
      await line.click();
      await listed(ofUser(false), "root.user:ana");
      await line.click();
      await listed({}, undefined);
      await line.click({ modifiers: ["Alt"] });
      await listed(ofUser(true), "-root.user:ana");
      const failed = page
        .getByRole("region", { name: "Any call", exact: true })
        .locator("li > a:first-child");
      await show(page, `/${PROJECT}/traces`);
      await failed.click();
      await listed(
        {
          any_call: {
            query: { $expr: { $not: [{ $eq: [{ $getField: "exception" }, { $literal: null }] }] } },
          },
        },
        "status:failed",
      );
    });

    it("are searched for with names and values completed by keyboard", async () => {
      await show(page, `/${PROJECT}/traces`);
      await page.keyboard.press("/");
      await page.keyboard.type("use");
      await page.getByRole("option", { name: "user:" }).waitFor();
      await expectAccessible(page, "completion", looksOf(2));
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("option", { name: "ana" }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      expect(await page.getByLabel("Search traces").inputValue()).toBe("user:ana ");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Enter");
      await page.locator(".chip", { hasText: "user:ana" }).waitFor();
    });

    it("have as many calls and failures as sent, of whole traces", async () => {
      const sent = await callsOf();
      await show(page, `/${PROJECT}/traces?sort=tokens`);
      const rows = await allRows(page);
      expect(rows.length).toBeGreaterThan(40);
      for (const row of rows) {
        const calls = sent.filter(({ trace_id }) => trace_id === traceIdOf(row));
        expectFigure(row["calls"], calls.length);
        expectFigure(row["errors"], calls.filter(({ exception }) => exception !== null).length);
      }
    });
  });

  describe("a trace", () => {
    it.each(["support-1", "contract-1", "refund-1", "research-1"])(
      "%s has on every row the total of the API, and own costs that sum to it",
      async (traceId) => {
        const usage = await usageOf({ trace_ids: [traceId] });
        const own = await usageOf({ trace_ids: [traceId] }, { own_only: true });
        await show(page, `/${PROJECT}/trace/${traceId}`);
        const rows = await allRows(page);
        expect(rows.length).toBe(Object.keys(usage).length);
        let [ownTokens, ownUsd] = [0, 0];
        for (const row of rows) {
          const { tokens, usd, unknown } = totalOf(usage[row.id.title]!);
          expectFigure(row["tokens"], tokens);
          if (unknown > 0 && usd === 0) expect(row["cost"]!.text).toContain("—");
          else expectFigure(row["cost"], usd);
          const itself = totalOf(own[row.id.title]!);
          expectOwn(row["own-tokens"], itself.tokens, tokens);
          if (itself.unknown === 0) expectOwn(row["own-cost"], itself.usd, usd);
          ownTokens += itself.tokens;
          ownUsd += itself.usd;
        }
        const roots = Object.values(await usageOf({ trace_ids: [traceId], trace_roots_only: true })).map(
          totalOf,
        );
        expect(ownTokens).toBe(roots.reduce((sum, { tokens }) => sum + tokens, 0));
        expect(ownUsd).toBeCloseTo(
          roots.reduce((sum, { usd }) => sum + usd, 0),
          10,
        );
      },
    );

    it.each(["support-1-agent", "contract-1-long"])(
      "has a receipt of %s whose lines sum to its row",
      async (id) => {
        await show(page, `/${PROJECT}/trace/${id.split("-").slice(0, 2).join("-")}?call=${id}&tab=cost`);
        const row = (await allRows(page)).find((one) => one.id.title === id)!;
        const lines = (await page.evaluate(readTables)).at(-1)!.filter(({ cells }) => cells.length === 4);
        const total = lines.pop()!;
        expect(lines.length).toBeGreaterThan(0);
        const sumOf = (column: number, among = lines): number =>
          among.reduce((sum, { cells }) => sum + numberOf(cells[column]!.title), 0);
        expectFigure(row["cost"], sumOf(2));
        expectFigure(total.cells[2], sumOf(2));
        const tokens = sumOf(
          0,
          lines.filter(({ name }) => name.includes("tokens")),
        );
        expectFigure(total.cells[0], tokens);
        // where the caches are told beside the tokens, their number stands there
        const [, beside = "0"] = /([\d.,]+K?) of caches/.exec(total.name) ?? [];
        const shown = numberOf(row["tokens"]!.title);
        expect(formatCount(tokens - shown).text).toBe(beside);
      },
    );
  });

  describe.each([
    { by: ["llm"] },
    { by: ["llm", "attributes.tenant"] },
    { by: ["status", "op_name", "llm", "api_key"] },
  ])("usage by $by", ({ by }) => {
    it("has the numbers of the API, for every group, every bucket and in total", async () => {
      const zone = "Asia/Kathmandu";
      await show(
        page,
        `/${PROJECT}/usage?group=${by.join()}&interval=hour&zone=${zone}&window=${from}..${until}`,
      );
      const stats = (
        await test.post("/usage/stats", {
          project_id: PROJECT,
          start: from,
          end: until,
          timezone: zone,
          group_by: by.map((group) => (group.includes(".") ? { $getField: group } : group)),
          include_costs: true,
          order_by: "total_cost",
          granularity: 3600,
        })
      ).json() as UsageStats;
      const [groups] = await page.evaluate(readTables);
      expect(groups!.map(({ name }) => name.split(/\s+\d/)[0])).toEqual([
        ...stats.groups.map(({ key }) => by.map((group) => key[group] ?? "(none)").join(" · ")),
        "all",
      ]);
      const totals = [...stats.groups.map(({ total }) => total), stats.total];
      for (const [at, { cells }] of groups!.entries()) expectTotal(cells, totals[at]!);
      await page.getByRole("button", { name: "Over time" }).click();
      const [buckets] = await page.evaluate(readTables);
      const { buckets: ofTime, total } = stats;
      expect(buckets).toHaveLength(ofTime.length + 1);
      for (const [at, { cells }] of buckets!.entries()) expectTotal(cells, ofTime[at]?.total ?? total);
      expectFigure(await cellOf(page.locator(".answer .sum")), stats.total["total_cost"]!);
    });
  });

  describe.each([
    { path: "score", value_type: "numeric", aggregations: ["avg", "min", "max", "count"] },
    { path: "passed", value_type: "boolean", aggregations: ["count_true", "count_false"] },
    { path: "label", value_type: "categorical", aggregations: ["count"] },
  ] as const)("feedback at $path", ({ path, value_type, aggregations }) => {
    it("has the numbers of the API, for every bucket and in total", async () => {
      const zone = "Europe/Berlin";
      await show(page, `/${PROJECT}/feedback?path=${path}&zone=${zone}&window=${from}..${until}`);
      const { buckets, window_stats } = (
        await test.post("/feedback/stats", {
          project_id: PROJECT,
          start: from,
          end: until,
          timezone: zone,
          metrics: [
            {
              json_path: path,
              value_type,
              aggregations,
              ...(value_type === "numeric" && { percentiles: [10, 50, 90] }),
            },
          ],
        })
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
      expect(shown.length).toBeGreaterThan(1);
      expect(shown).toEqual(expected);
    });
  });

  const hours = (count: number): string =>
    [count, 0].map((before) => new Date(Date.now() - before * 3_600_000).toISOString()).join("..");
  const places = {
    overview: `/${PROJECT}/overview?window=${hours(8)}`,
    settings: `/${PROJECT}/settings`,
    "a budget to set": `/${PROJECT}/settings?budget=new&scope=svc_user_id&match=ana`,
    "a price to set": `/${PROJECT}/settings?model=acme-contracts-7b`,
    traces: `/${PROJECT}/traces?window=${hours(8)}`,
    "a trace with details": `/${PROJECT}/trace/contract-1?call=contract-1-classify`,
    "a failed trace": `/${PROJECT}/trace/refund-1?call=refund-1-agent`,
    "a live trace": `/${PROJECT}/trace/research-1`,
    "an empty window": `/${PROJECT}/traces?window=2020-01-01T00:00:00Z..2020-01-02T00:00:00Z`,
    usage: `/${PROJECT}/usage?window=${hours(8)}`,
    "usage-by-trace": `/${PROJECT}/usage?group=svc_user_id&measure=latency&window=${hours(8)}`,
    "usage-errors": `/${PROJECT}/usage?group=exception&window=${hours(8)}`,
    feedback: `/${PROJECT}/feedback?path=label&window=${hours(8)}`,
  };
  it.each(Object.entries(places).map(([name, place], at) => ({ name, place, looks: looksOf(at) })))(
    "$name: axe finds nothing, in light and dark, wide and on a phone",
    async ({ name, place, looks }) => {
      await show(page, place);
      await expectAccessible(page, name, looks);
    },
  );

  it("on a phone, axe finds nothing in the filter drawer, and every cost is in sight", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await show(page, `/${PROJECT}/traces?sort=cost`);
    const cut = await page.locator(".traces .cost").evaluateAll((cells) =>
      cells.filter((cell) => {
        const { left, right } = cell.getBoundingClientRect();
        return cell.scrollWidth > cell.clientWidth || left < 0 || right > innerWidth;
      }),
    );
    expect(cut).toEqual([]);
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByRole("dialog").getByRole("region", { name: "User", exact: true }).waitFor();
    const phones = LOOKS.filter(({ size }) => size === "phone");
    await expectAccessible(page, "filter drawer", phones);
    await page.keyboard.press("Escape");
  });

  it("a search by sums lists the traces of the API", async () => {
    await page.setViewportSize({ width: 1280, height: 760 });
    for (const [q, totals] of [
      ["cost>0.1", { total_cost: { gt: 0.1 } }],
      ["calls>=5 tokens<10000", { calls: { gte: 5 }, total_tokens: { lt: 10_000 } }],
      ["failed>0", { failed: { gt: 0 } }],
    ] as const) {
      const start = new Date(Date.now() - 7 * 86_400_000).toISOString();
      const { total } = (await test.post("/traces/query", { project_id: PROJECT, start, totals })).json();
      await show(page, `/${PROJECT}/traces?q=${encodeURIComponent(q)}`);
      expect(total.traces).toBeGreaterThan(0);
      expect(numberOf(await page.locator(".answer > span").nth(1).innerText())).toBe(total.traces);
    }
  });

  it("without a key: axe finds nothing, in light and dark, wide and on a phone", async () => {
    const page = await test.open("/", { key: null });
    await page.getByLabel("API key").waitFor();
    await expectAccessible(page, "without a key", looksOf(0));
    await page.context().close();
  });
});
