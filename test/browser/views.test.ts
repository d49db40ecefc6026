import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSamples, PROJECT } from "../../scripts/demo/load-samples.ts";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { expectAccessible } from "./accessible.ts";
import {
  allRows,
  cellOf,
  expectFigure,
  numberOf,
  readTables,
  settled,
  show,
  type Cell,
  type Row,
} from "./reading.ts";

type Usage = Readonly<Record<string, Readonly<Record<string, number | null>>>>;

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

/** What the traces of the list are called. */
async function namesOf(page: Page): Promise<readonly string[]> {
  return (await allRows(page)).map((row) => row["name"]!.text.trim());
}

/** With the tabulator, as far as to the rows. */
async function tabTo(page: Page, name: string): Promise<void> {
  const isThere = (name: string): boolean => document.activeElement?.classList.contains(name) ?? false;
  for (let at = 0; at < 40 && !(await page.evaluate(isThere, name)); at++) await page.keyboard.press("Tab");
  expect(await page.evaluate(isThere, name)).toBe(true);
}

describe.skipIf(chromiumPath === undefined)("the page in Chromium", () => {
  beforeAll(async () => {
    test = await startPage();
    await loadSamples(test.app, ROOT_KEY);
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
    it("have the cost and the tokens that the route says, each and in all", async () => {
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

    it("are there before it is known what all of them cost", async () => {
      const page = await test.open(`/${PROJECT}/usage`);
      await settled(page);
      let count: (() => void) | undefined;
      const counted = new Promise<void>((done) => (count = done));
      await page.route("**/trace/query", async (route) => {
        if ((route.request().postDataJSON() as { limit: number }).limit === 1) await counted;
        await route.continue();
      });
      await page.evaluate((hash) => (location.hash = hash), `/${PROJECT}/traces`);
      await page.locator(".traces .body .row .cost", { hasText: "$" }).first().waitFor();
      await page.getByText("Adding up what they cost").waitFor();
      count!();
      await page.locator(".answer .sum").waitFor();
      await settled(page);
      const { tokens, usd } = Object.values(await usageOf({ trace_roots_only: true }))
        .map(totalOf)
        .reduce((sum, one) => ({ ...sum, tokens: sum.tokens + one.tokens, usd: sum.usd + one.usd }));
      expectFigure(await cellOf(page.locator(".answer .sum")), usd);
      const rows = await allRows(page);
      expect(rows.reduce((sum, row) => sum + numberOf(row["tokens"]!.title), 0)).toBe(tokens);
      await page.context().close();
    });

    it("have as many calls and failures as were sent, of whole traces", async () => {
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

    it("are filtered by what they cost, and refuse what is no number as it is typed", async () => {
      const usd = Object.values(await usageOf({ trace_roots_only: true })).map((usage) => totalOf(usage).usd);
      await show(page, `/${PROJECT}/traces`);
      const search = page.getByLabel("Search traces");
      await search.fill("cost>much");
      await page.getByText("cost is a number").waitFor();
      expect(await page.getByRole("button", { name: "Search", exact: true }).isDisabled()).toBe(true);
      await search.fill("cost>0.05");
      await page.keyboard.press("Enter");
      await page.locator(".chip", { hasText: "cost>0.05" }).waitFor();
      const shown = (await allRows(page)).map((row) => numberOf(row["cost"]!.title));
      const wanted = usd.filter((cost) => cost > 0.05);
      expect([wanted.length > 0, wanted.length < usd.length]).toEqual([true, true]);
      expect(shown.length).toBe(wanted.length);
      expect(Math.min(...shown)).toBeGreaterThan(0.05);
      expectFigure(
        await cellOf(page.locator(".answer .sum")),
        wanted.reduce((sum, cost) => sum + cost, 0),
      );
      await page.getByRole("button", { name: "Remove cost>0.05" }).click();
      await page.locator(".chip").waitFor({ state: "detached" });
      expect((await allRows(page)).length).toBe(usd.length);
    });

    it("have the columns that somebody chose, as wide as chosen, also the next time", async () => {
      const page = await test.open(`/${PROJECT}/traces`);
      await settled(page);
      const user = page.getByRole("columnheader", { name: "user" });
      const tokens = page.getByRole("columnheader", { name: "tokens" });
      const widthOf = async () => (await tokens.boundingBox())!.width;
      await user.waitFor();
      await page.getByRole("button", { name: "columns" }).click();
      await page.getByLabel("user", { exact: true }).uncheck();
      await user.waitFor({ state: "detached" });
      await page.getByLabel("Width of tokens in pixels").fill("140");
      await page.keyboard.press("Enter");
      await expect.poll(widthOf).toBe(140);
      await page.reload();
      await settled(page);
      await expect.poll(widthOf).toBe(140);
      expect(await user.count()).toBe(0);
      const { x, y } = (await tokens.boundingBox())!;
      await page.mouse.move(x + 2, y + 5);
      await page.mouse.down();
      await page.mouse.move(x - 38, y + 5);
      await page.mouse.up();
      await expect.poll(widthOf).toBe(180);
      await page.getByRole("button", { name: "columns" }).click();
      await page.getByRole("button", { name: "As it comes" }).click();
      await user.waitFor();
      await expect.poll(widthOf).toBe(66);
      await page.context().close();
    });

    it.each([1200, 380])("open their boxes in sight, below what opens them, on %d pixels", async (width) => {
      const page = await test.open(`/${PROJECT}/traces`, { viewport: { width, height: 700 } });
      await settled(page);
      const opener = page.getByRole("button", { name: "columns" });
      const columns = page.getByRole("group", { name: "Columns" });
      const expectBelow = async (box: Locator, above: Locator) => {
        await box.waitFor();
        const [inner, outer] = [(await box.boundingBox())!, (await above.boundingBox())!];
        expect(inner.y).toBeGreaterThanOrEqual(outer.y + outer.height);
        expect(inner.y).toBeLessThan(outer.y + outer.height + 20);
        expect([inner.x >= 0, inner.x + inner.width <= width]).toEqual([true, true]);
      };
      await opener.click();
      await expectBelow(columns, opener);
      await page.keyboard.press("Escape");
      await columns.waitFor({ state: "hidden" });
      await opener.click();
      await page.getByRole("banner").click({ position: { x: 2, y: 2 } });
      await columns.waitFor({ state: "hidden" });

      const range = page.getByRole("button", { name: /^Range/ });
      const panel = page.locator(".panel", { has: page.locator(".ranges") });
      await range.click();
      await expectBelow(panel, range);
      await page.keyboard.press("Escape");
      await panel.waitFor({ state: "hidden" });
      await range.click();
      await page.getByLabel("From", { exact: true }).fill("2026-01-05T00:00");
      await page.getByLabel("To", { exact: true }).fill("2026-01-06T12:00");
      await page.getByRole("button", { name: "Show", exact: true }).click();
      await panel.waitFor({ state: "hidden" });
      // by the clock of Berlin
      const address = decodeURIComponent(page.url());
      expect(address).toContain("2026-01-04T23:00:00.000Z..2026-01-06T11:00:00.000Z");
      await page.context().close();
    });

    it("are filtered by what becomes a query, which stands in the address", async () => {
      await show(page, `/${PROJECT}/traces`);
      await page.getByLabel("Search traces").fill("op:refund_agent.run");
      await page.keyboard.press("Enter");
      await page.locator(".chip").waitFor();
      expect(await namesOf(page)).toEqual([expect.stringContaining("refund_agent.run")]);
      const again = await test.open(decodeURIComponent(new URL(page.url()).hash.slice(1)));
      await again.locator(".chip").waitFor();
      expect(await namesOf(again)).toEqual([expect.stringContaining("refund_agent.run")]);
      await again.context().close();
    });
  });

  describe("a trace", () => {
    it.each(["support-1", "report-1", "contract-1", "refund-1", "research-1"])(
      "%s has on every row the total that the route says, and own parts that add up to it",
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
          expectFigure(row["own own-tokens"], itself.tokens);
          if (itself.unknown === 0) expectFigure(row["own own-usd"], itself.usd);
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

    it("is walked, folded, searched and read with the keyboard alone", async () => {
      const page = await test.open(`/${PROJECT}/traces?sort=cost`);
      await settled(page);
      const active = page.locator(".rows .row.active");
      const rows = page.locator(".tree .body .row");
      const expectActive = (text: string) => expect.poll(() => active.innerText()).toContain(text);
      await tabTo(page, "rows");
      const wanted = (await namesOf(page)).findIndex((name) => name.includes("Support agent"));
      await page.keyboard.press("Home");
      for (let at = 0; at < wanted; at++) await page.keyboard.press("ArrowDown");
      await expectActive("Support agent");
      await page.keyboard.press("Enter");
      await page.locator(".rows.tree").waitFor();
      await tabTo(page, "tree");
      await page.keyboard.press("ArrowLeft");
      await expect.poll(() => rows.count()).toBe(1);
      await page.keyboard.press("ArrowRight");
      await expect.poll(() => rows.count()).toBe(6);
      await page.keyboard.press("e");
      await expectActive("track_parcel");
      await page.keyboard.press("Home");
      await expectActive("Support agent");
      await settled(page);
      await page.keyboard.press("$");
      await expectActive("anthropic.messages.create");
      await page.keyboard.press("/");
      await page.keyboard.type("guard");
      await page.locator(".find", { hasText: "1" }).waitFor();
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await expectActive("guardrail");
      await page.keyboard.press("Enter");
      await page.locator(".details").waitFor();
      await page.keyboard.press("Escape");
      await page.locator(".details").waitFor({ state: "detached" });
      await page.goBack();
      await page.locator(".details").waitFor();
      await page.context().close();
    });

    it.each(["support-1-agent", "contract-1-long", "refund-1-agent", "report-1-summarize"])(
      "has a receipt of %s whose lines sum up to what its row says",
      async (id) => {
        await show(page, `/${PROJECT}/trace/${id.split("-").slice(0, 2).join("-")}?call=${id}&tab=receipt`);
        const row = (await allRows(page)).find((one) => one.id.title === id)!;
        const amounts = (await page.evaluate(readTables))
          .at(-1)!
          .filter(({ cells }) => cells.length === 6)
          .map(({ cells }) => numberOf(cells[3]!.title));
        expect(amounts.length).toBeGreaterThan(0);
        const sum = amounts.reduce((all, amount) => all + amount, 0);
        expectFigure(row["cost"], sum);
        expectFigure(await cellOf(page.locator(".receipt tfoot td").first()), sum);
      },
    );

    it("shows what went in and out, and what was said about it", async () => {
      await show(page, `/${PROJECT}/trace/support-1?call=support-1-agent&tab=input`);
      await page.locator(".json-text", { hasText: "Where is my parcel?" }).first().waitFor();
      await page.getByRole("tab", { name: "Feedback" }).click();
      await page.locator(".details td", { hasText: "answer.quality" }).waitFor();
    });
  });

  describe.each([
    { by: ["llm"] },
    { by: ["op_name"] },
    { by: ["attributes.tenant"] },
    { by: ["llm", "attributes.tenant"] },
    { by: ["status", "op_name", "llm", "api_key"] },
  ])("usage by $by", ({ by }) => {
    it("has the numbers that the route says, for every group, every bucket and in all", async () => {
      const zone = "Asia/Kathmandu";
      await show(page, `/${PROJECT}/usage?group=${by.join()}&zone=${zone}&window=${from}..${until}`);
      const stats = (
        await test.post("/usage/stats", {
          project_id: PROJECT,
          start: from,
          end: until,
          timezone: zone,
          group_by: by.map((group) => (group.includes(".") ? { $getField: group } : group)),
          include_costs: true,
          order_by: "total_cost",
        })
      ).json() as UsageStats;
      const [groups, buckets] = await page.evaluate(readTables);
      expect(groups!.map(({ name }) => name.split(/\s+\d/)[0])).toEqual([
        ...stats.groups.map(({ key }) => by.map((group) => key[group] ?? "(none)").join(" · ")),
        "all",
      ]);
      const totals = [...stats.groups.map(({ total }) => total), stats.total];
      for (const [at, { cells }] of groups!.entries()) expectTotal(cells, totals[at]!);
      expect(buckets).toHaveLength(stats.buckets.length);
      for (const [at, { cells }] of buckets!.entries()) expectTotal(cells, stats.buckets[at]!.total);
      expectFigure(await cellOf(page.locator(".answer .sum")), stats.total["total_cost"]!);
    });
  });

  it("usage is of the calls that a filter leaves, in the address as well", async () => {
    await show(page, `/${PROJECT}/usage?window=${from}..${until}`);
    await page.getByLabel("Search calls").fill("op:web_search");
    await page.keyboard.press("Enter");
    await page.locator(".chip", { hasText: "web_search" }).waitFor();
    await settled(page);
    const calls = page.locator(".answer > span", { hasText: /\bcalls?\b/ });
    expectFigure(await cellOf(calls), 1);
    await page.getByLabel("Group by", { exact: true }).selectOption("status");
    await page.locator(".chip", { hasText: "status" }).waitFor();
    await settled(page);
    expect((await page.evaluate(readTables))[0]!.map(({ name }) => name.split(/\s+\d/)[0])).toEqual([
      "(none) · success",
      "all",
    ]);
    expect(page.url()).toContain("calls=");
    await page.getByRole("button", { name: "Lines" }).click();
    await expect.poll(() => page.url()).toContain("as=lines");
    await page.locator(".usage canvas").waitFor();
  });

  describe.each([
    { path: "score", value_type: "numeric", aggregations: ["avg", "min", "max", "count"] },
    { path: "passed", value_type: "boolean", aggregations: ["count_true", "count_false"] },
    { path: "label", value_type: "categorical", aggregations: ["count"] },
  ] as const)("feedback at $path", ({ path, value_type, aggregations }) => {
    it("has the numbers that the route says, for every bucket and in all", async () => {
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

  it("copies every digit of the figures that somebody selects, and shows them as before", async () => {
    const opened = await test.open(`/${PROJECT}/usage?window=${from}..${until}`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await settled(opened);
    const shown = await opened.locator("table.groups tfoot").innerText();
    const exact = await opened.evaluate(() => {
      const figures = [...document.querySelectorAll<HTMLElement>("table.groups tfoot .figure")];
      const [first, last] = [figures[0]!.firstChild!, figures.at(-1)!.lastChild!];
      document.getSelection()!.setBaseAndExtent(first, 0, last, 2);
      return figures.map(({ dataset }) => dataset["exact"]!);
    });
    await opened.keyboard.press("Control+C");
    const copied = await opened.evaluate(() => navigator.clipboard.readText());
    // what stands between the figures is copied too
    expect(copied.split(/[\s≥]+/)).toEqual(exact.map((text) => text.replace("≥ ", "")));
    expect(await opened.locator("table.groups tfoot").innerText()).toBe(shown);
    await opened.context().close();
  });

  it("is printed in the colours of paper, whatever the theme", async () => {
    const opened = await test.open(`/${PROJECT}/usage?window=${from}..${until}`, { colorScheme: "dark" });
    await settled(opened);
    const inkOf = (): Promise<string> => opened.evaluate(() => getComputedStyle(document.body).color);
    const dark = await inkOf();
    await opened.emulateMedia({ media: "print" });
    await expect.poll(inkOf).not.toBe(dark);
    await opened.emulateMedia({ colorScheme: "light", media: "screen" });
    const light = await inkOf();
    await opened.emulateMedia({ colorScheme: "dark", media: "print" });
    expect(await inkOf()).toBe(light);
    await opened.context().close();
  });

  const storedIn = (page: Page) =>
    page.evaluate(() => ({
      local: JSON.stringify([Object.entries(localStorage), document.cookie]),
      session: Object.values(sessionStorage),
    }));

  it("keeps the key for the session and the tabs of this page, out of the address and out of what stays", async () => {
    const page = await test.open(`/${PROJECT}/traces`);
    await settled(page);
    expect(page.url()).not.toContain(ROOT_KEY);
    const { local, session } = await storedIn(page);
    expect(local).not.toContain(ROOT_KEY);
    expect(session).toEqual([ROOT_KEY]);
    // another tab, as a middle click opens it, is signed in and out with this one
    const second = await page.context().newPage();
    await second.goto(`${test.url}/#/${PROJECT}/usage`);
    await second.locator(".answer .sum").waitFor();
    expect((await storedIn(second)).local).not.toContain(ROOT_KEY);
    await page.getByRole("button", { name: "Signed in as" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    await second.getByLabel("API key").waitFor();
    expect((await storedIn(second)).session).toEqual([]);
    await page.context().close();
  });

  it("keeps the key on this device if somebody wishes so, until they sign out", async () => {
    const page = await test.open(`/${PROJECT}/traces`, { key: null });
    await page.getByLabel("API key").fill(ROOT_KEY);
    await page.getByLabel("Keep on this device").check();
    await page.getByRole("button", { name: "Sign in" }).click();
    await settled(page);
    expect((await storedIn(page)).local).toContain(ROOT_KEY);
    await page.getByRole("button", { name: "Signed in as" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    expect((await storedIn(page)).local).not.toContain(ROOT_KEY);
    await page.context().close();
  });

  it("refuses what cannot be a key where it is typed, and asks before a link replaces one", async () => {
    const page = await test.open("/", { key: null });
    await page.getByLabel("API key").fill("st_é");
    await page.getByText("“é” cannot be part of a key").waitFor();
    expect(await page.getByRole("button", { name: "Sign in" }).isDisabled()).toBe(true);
    await page.getByLabel("API key").fill(ROOT_KEY);
    await page.keyboard.press("Enter");
    await settled(page);
    const other = (
      await test.post("/api-keys", { name: "of a link", scopes: ["read"], projects: [PROJECT] })
    ).json() as { key: string };
    const to = encodeURIComponent(`/${PROJECT}/usage`);
    const follow = () => page.evaluate((hash) => (location.hash = hash), `key=${other.key}&to=${to}`);
    await follow();
    await page.getByText("This link brings another key").waitFor();
    expect(page.url()).not.toContain(other.key);
    await page.getByRole("button", { name: "Keep mine" }).click();
    expect((await storedIn(page)).session).toEqual([ROOT_KEY]);
    await follow();
    await page.getByRole("button", { name: "Use the key of the link" }).click();
    await page.getByRole("button", { name: "Signed in as of a link" }).waitFor();
    await page.context().close();
  });

  const hours = (count: number): string =>
    [count, 0].map((before) => new Date(Date.now() - before * 3_600_000).toISOString()).join("..");
  const places = {
    overview: `/${PROJECT}/overview?window=${hours(8)}`,
    settings: `/${PROJECT}/settings`,
    "a price to set": `/${PROJECT}/settings?model=acme-contracts-7b`,
    traces: `/${PROJECT}/traces?window=${hours(8)}`,
    "a trace with details": `/${PROJECT}/trace/contract-1?call=contract-1-classify`,
    "a failed trace": `/${PROJECT}/trace/refund-1?call=refund-1-agent`,
    "a live trace": `/${PROJECT}/trace/research-1`,
    "an empty window": `/${PROJECT}/traces?window=2020-01-01T00:00:00Z..2020-01-02T00:00:00Z`,
    usage: `/${PROJECT}/usage?window=${hours(8)}`,
    feedback: `/${PROJECT}/feedback?path=label&window=${hours(8)}`,
  };
  it.each(Object.entries(places))(
    "%s: axe finds nothing, in light and dark, wide and on a phone",
    async (name, place) => {
      await show(page, place);
      await expectAccessible(page, name);
    },
  );

  it("without a key: axe finds nothing, in light and dark, wide and on a phone", async () => {
    const page = await test.open("/", { key: null });
    await page.getByLabel("API key").waitFor();
    await expectAccessible(page, "without a key");
    await page.context().close();
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
