import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { cellOf, expectFigure, numberOf, readTables, show, untilIdle } from "./reading.ts";

const PROJECT = "acme/shop";
const ZONE = "Europe/Berlin";
const DAYS = 40;
const UNPRICED = "house-7b";
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A Wednesday in the middle of a month; summer time began 17 days before. */
const NOW = Date.parse("2026-04-15T13:00:00Z");

let test: TestPage;

interface Asked {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_id: string | null;
  readonly started_at: string;
  readonly wb_user_id: string;
  readonly attributes: { readonly version: string };
  readonly exception: string | null;
  readonly llm?: string;
}

/** A conversation of each of the last days: an agent, and two models below it. The newest version came a week ago. */
function conversationOf(day: number): readonly Asked[] {
  const startedMs = NOW - day * DAY_MS - 10 * MINUTE_MS;
  const shared = {
    trace_id: `day-${day}`,
    wb_user_id: day % 3 === 0 ? "ben" : "ana",
    attributes: { version: day < 7 ? "1.5" : "1.4" },
  };
  const call = (name: string, afterMs: number, more: object) => ({
    ...shared,
    id: `${name}-${day}`,
    parent_id: name === "agent" ? null : `agent-${day}`,
    op_name: name,
    started_at: new Date(startedMs + afterMs).toISOString(),
    ended_at: new Date(startedMs + afterMs + 2000).toISOString(),
    exception: null,
    inputs: {},
    output: null,
    ...more,
  });
  const used = (llm: string, prompt_tokens: number) => ({
    llm,
    summary: { usage: { [llm]: { requests: 1, prompt_tokens, completion_tokens: 100 } } },
  });
  const messages = [{ role: "user", content: `Where is parcel-${day} of my order?` }];
  return [
    call("agent", 0, {
      inputs: { messages },
      output: { role: "assistant", content: "It arrives today." },
      ...(day % 4 === 3 && { exception: `ParcelError: no parcel ${day} at 'depot ${day}'` }),
    }),
    call("draft", 100, used("gpt-4o-mini", 1000 + day)),
    call("answer", 300, {
      ...used(day === 20 ? UNPRICED : "gpt-4o", day === 2 ? 500_000 : 2000 + 10 * day),
      ...(day % 4 === 1 && { exception: "Error: timeout" }),
    }),
  ] as readonly Asked[];
}

let calls: readonly Asked[] = [];
/** Own cost by call, from the roll-up. */
let costs: ReadonlyMap<string, number>;

/** The day of an instant in the shown zone, as 2026-11-27. */
function dayOf(at: string | number): string {
  return new Intl.DateTimeFormat("sv", { timeZone: ZONE }).format(new Date(at));
}

/** The Monday of a day's week. */
function weekOf(day: string): string {
  const at = new Date(`${day}T00:00:00Z`);
  return new Date(at.getTime() - ((at.getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10);
}

function costOf(some: readonly Asked[]): number {
  return some.reduce((sum, { id }) => sum + (costs.get(id) ?? 0), 0);
}

class Visitor {
  clicks = 0;
  readonly page: Page;
  constructor(page: Page) {
    this.page = page;
  }
  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.first().click();
    await untilIdle(this.page);
  }
  button(name: string | RegExp): Promise<void> {
    return this.click(this.page.getByRole("button", { name, exact: true }));
  }
  view(name: string): Promise<void> {
    return this.click(this.page.getByRole("navigation").getByRole("link", { name, exact: true }));
  }
  async range(name: string): Promise<void> {
    await this.click(this.page.getByRole("button", { name: "Range:" }));
    await this.button(name);
  }
  /** The rows of the first table. */
  async rows() {
    await untilIdle(this.page);
    return (await this.page.evaluate(readTables))[0]!;
  }
  headline(): Locator {
    return this.page.locator(".answer .sum");
  }
}

async function costColumn(page: Page): Promise<number> {
  const heads = await page.locator("table.groups thead th").allInnerTexts();
  return heads.findIndex((head) => head.startsWith("cost")) - 1;
}

describe.skipIf(chromiumPath === undefined)("questions of every day, in at most four clicks", () => {
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    let nowMs = NOW - MINUTE_MS;
    test = await startPage({ deps: { clock: { now: () => nowMs } } });
    calls = Array.from({ length: DAYS }, (_, day) => conversationOf(day)).flat();
    // user and version stand on the root alone
    const batch = calls.map(({ wb_user_id, attributes, ...call }) =>
      call.parent_id === null ? { ...call, wb_user_id, attributes } : call,
    );
    const stored = await test.post(`/v2/${PROJECT}/calls/complete`, { batch });
    expect(stored.json()).toEqual({ rejected: [] });
    for (const { id, llm } of calls.filter((one) => one.llm !== undefined)) {
      const rated = {
        project_id: PROJECT,
        weave_ref: `weave:///${PROJECT}/call/${id}`,
        feedback_type: "eval",
        payload: { score: llm === "gpt-4o" ? 0.9 : 0.4 },
      };
      expect((await test.post("/feedback/create", rated)).status).toBe(200);
    }
    nowMs = NOW;
    const own = await test.post("/trace/usage", { project_id: PROJECT, own_only: true, include_costs: true });
    const usage = own.json().call_usage as Record<string, Record<string, Record<string, number | null>>>;
    costs = new Map(
      Object.entries(usage).map(([id, perLlm]) => [
        id,
        Object.values(perLlm).reduce(
          (sum, one) =>
            sum + (one["prompt_tokens_total_cost"] ?? 0) + (one["completion_tokens_total_cost"] ?? 0),
          0,
        ),
      ]),
    );
    page = await test.open(`/${PROJECT}`, { now: NOW });
  });
  afterAll(() => test.close());

  const ask = (name: string, answer: (visitor: Visitor) => Promise<void>): void =>
    it(name, async () => {
      await show(page, `/${PROJECT}`);
      visitor = new Visitor(page);
      await answer(visitor);
      expect(visitor.clicks).toBeLessThanOrEqual(4);
    });

  ask("yesterday by model", async (visitor) => {
    await visitor.view("Usage");
    await visitor.range("Yesterday");
    const yesterday = dayOf(Date.parse(`${dayOf(NOW)}T12:00:00Z`) - DAY_MS);
    const of = calls.filter(({ started_at: at }) => dayOf(at) === yesterday);
    const column = await costColumn(page);
    const rows = new Map((await visitor.rows()).map(({ name, cells }) => [name, cells[column]]));
    for (const model of ["gpt-4o", "gpt-4o-mini"]) {
      const [, cell] = [...rows].find(([name]) => name.split(/\s/)[0] === model)!;
      expectFigure(cell, costOf(of.filter(({ llm }) => llm === model)));
    }
    expectFigure(await cellOf(visitor.headline()), costOf(of));
  });

  ask("who cost most this month", async (visitor) => {
    await visitor.view("Usage");
    await visitor.range("This month");
    await visitor.button("User");
    const month = dayOf(NOW).slice(0, 7);
    const of = calls.filter(({ started_at: at }) => dayOf(at).startsWith(month));
    const byUser = [...Map.groupBy(of, (call) => call.wb_user_id)].map(
      ([user, some]) => [user, costOf(some)] as const,
    );
    const [user, usd] = byUser.toSorted(([, a], [, b]) => b - a)[0]!;
    const [first] = await visitor.rows();
    expect(first!.name.split(/\s/)[0]).toBe(user);
    expectFigure(first!.cells[await costColumn(page)], usd);
  });

  ask("why the dearest trace is so dear", async (visitor) => {
    await visitor.view("Traces");
    await visitor.click(page.getByRole("columnheader", { name: /cost/ }).getByRole("button"));
    await visitor.click(page.locator(".traces .body .row a"));
    await visitor.button("Dearest call");
    await page.getByRole("region", { name: "Call answer" }).waitFor();
    expect(page.url()).toContain("trace/day-2?");
    expect(page.url()).toContain("call=answer-2");
    expectFigure(
      await cellOf(visitor.headline()),
      costOf(calls.filter(({ trace_id: id }) => id === "day-2")),
    );
  });

  ask("which traces failed, and what they wasted", async (visitor) => {
    await visitor.view("Traces");
    await visitor.click(
      page.getByRole("region", { name: "Any call" }).getByRole("link", { name: /^failed/ }),
    );
    const weekAgo = NOW - 7 * DAY_MS;
    const failed = calls.filter(
      ({ exception, started_at: at }) => exception !== null && Date.parse(at) >= weekAgo,
    );
    await page.getByText(`in ${failed.length} traces`).waitFor();
    const roots = failed.filter(({ parent_id: parent }) => parent == null).length;
    const [, wasted] = (await page.locator(".answer").innerText()).split(" more recovered, ");
    await page.getByText(`${roots} of ${failed.length} traces failed`).waitFor();
    const below = calls.filter((one) => failed.some(({ id }) => id === one.id || id === one.parent_id));
    expect(Math.abs(numberOf(wasted!) / costOf(below) - 1)).toBeLessThanOrEqual(0.005);
  });

  ask("this week against the last", async (visitor) => {
    await visitor.view("Usage");
    await visitor.range("This week");
    const week = weekOf(dayOf(NOW));
    const of = calls.filter(({ started_at: at }) => weekOf(dayOf(at)) === week);
    expectFigure(await cellOf(visitor.headline()), costOf(of));
    const before = calls.filter(({ started_at: at }) => {
      const passed = NOW - 7 * DAY_MS;
      return weekOf(dayOf(at)) === weekOf(dayOf(passed)) && Date.parse(at) < passed;
    });
    const text = await page
      .locator(".answer")
      .getByText(/Previous period/)
      .innerText();
    expect(Math.abs(numberOf(text) - costOf(before))).toBeLessThanOrEqual(costOf(before) * 0.005);
  });

  ask("before and after a version", async (visitor) => {
    await visitor.view("Usage");
    await visitor.range("Last 30 days");
    await visitor.button("Version");
    const column = await costColumn(page);
    const rows = await visitor.rows();
    const since = NOW - 30 * DAY_MS;
    for (const version of ["1.4", "1.5"]) {
      const of = calls.filter(
        ({ attributes, started_at: at }) => attributes.version === version && Date.parse(at) >= since,
      );
      const row = rows.find(({ name }) => name.split(/\s/)[0] === version)!;
      expect(numberOf(row.cells[column]!.title)).toBeCloseTo(costOf(of), 10);
    }
  });

  ask("whether the new version is cheaper", async (visitor) => {
    await visitor.view("Usage");
    await visitor.range("Last 30 days");
    await visitor.button("Version");
    const heads = await page.locator("table.groups thead th").allInnerTexts();
    const rows = await visitor.rows();
    const since = NOW - 30 * DAY_MS;
    for (const version of ["1.4", "1.5"]) {
      const of = calls.filter(
        (one) => one.attributes.version === version && Date.parse(one.started_at) >= since,
      );
      const cells = rows.find(({ name }) => name.split(/\s/)[0] === version)!.cells;
      const traces = new Set(of.map(({ trace_id: id }) => id)).size;
      expect(numberOf(cells[heads.indexOf("traces") - 1]!.title)).toBe(traces);
      expect(numberOf(cells[heads.indexOf("$ per trace") - 1]!.title)).toBeCloseTo(costOf(of) / traces, 10);
    }
  });

  ask("how slow each operation is", async (visitor) => {
    await visitor.click(page.getByRole("link", { name: /^p95 latency/ }));
    const [agent] = await visitor.rows();
    expect(agent!.name).toBe("agent");
    await page.getByRole("group", { name: /^p95 over time/ }).waitFor();
    expect(await cellOf(visitor.headline())).toEqual({ text: "2.00 s", title: "2,000 ms" });
  });

  ask("the commonest error", async (visitor) => {
    await visitor.view("Usage");
    await visitor.button("Error");
    const failed = calls.filter(
      ({ parent_id: parent, exception, started_at: at }) =>
        parent === null && exception !== null && Date.parse(at) >= NOW - 7 * DAY_MS,
    );
    const [first] = await visitor.rows();
    expect(first!.name).toContain("ParcelError: no parcel … at '…'");
    await visitor.click(page.locator(".groups td.traces a"));
    await page.getByText(`in ${failed.length} trace`, { exact: false }).waitFor();
  });

  ask("a word in some input", async (visitor) => {
    await visitor.view("Traces");
    await visitor.click(page.getByLabel("Search traces"));
    await page.keyboard.type("parcel-5");
    await page.keyboard.press("Enter");
    await page.getByText("in 1 trace", { exact: false }).waitFor();
    await page.locator('.traces .body .row a[href*="trace/day-5"]').first().waitFor();
  });

  ask("the quality of each model", async (visitor) => {
    await visitor.view("Feedback");
    await page.getByRole("group", { name: "Split by" }).waitFor();
    const rows = page.getByRole("region", { name: "Split" }).getByRole("row");
    for (const [model, score] of [
      ["gpt-4o", 0.9],
      ["gpt-4o-mini", 0.4],
    ] as const) {
      const row = rows.filter({ has: page.getByRole("link", { name: model, exact: true }) });
      expectFigure(await cellOf(row.locator("td").first()), score);
    }
  });

  ask("what was said", async (visitor) => {
    await visitor.view("Traces");
    await visitor.click(page.locator(".traces .body .row a"));
    await page.getByRole("tab", { name: "Conversation", selected: true }).waitFor();
    await page.locator(".details").getByText("Where is parcel-0 of my order?").waitFor();
    await page.locator(".details").getByText("It arrives today.").waitFor();
  });

  ask("a key for a colleague", async (visitor) => {
    await visitor.view("Settings");
    await visitor.click(page.locator('button:text-is("New key")'));
    await page.getByLabel("Name").fill("carl");
    await visitor.click(page.locator('dialog button:text-is("Create")'));
    const key = await page.locator("dialog pre").innerText();
    const asked = await test.post(
      "/usage/stats",
      { project_id: PROJECT, start: "2026-01-01T00:00:00Z" },
      { key },
    );
    expect(asked.status).toBe(200);
    await page.keyboard.press("Escape");
  });

  ask("what is left of the budget", async (visitor) => {
    const month = dayOf(NOW).slice(0, 7);
    const of = calls.filter(({ started_at: at }) => dayOf(at).startsWith(month));
    const limit = { usd: 5, requests: of.filter(({ llm }) => llm !== undefined).length };
    const budget = { project_id: PROJECT, scope: "project", limit, window: "month", timezone: ZONE };
    expect((await test.post("/budget/create", budget)).status).toBe(200);
    await visitor.view("Settings");
    const budgets = page.getByRole("region", { name: "Budgets" });
    await budgets.getByText(`each month in ${ZONE}, resets Fri 1 May, 00:00`).waitFor();
    expectFigure(await cellOf(budgets.getByText("left of $5")), 5 - costOf(of));
    await budgets.getByText(`0 left of ${limit.requests} requests, ${limit.requests} spent`).waitFor();
  });

  ask("a budget for who spends most", async (visitor) => {
    await visitor.view("Usage");
    await visitor.button("User");
    const [first] = await visitor.rows();
    await visitor.click(page.getByRole("link", { name: "Set a budget" }));
    await page.locator("dialog").getByLabel("USD").fill("2,5");
    await visitor.click(page.locator('dialog button:text-is("Save")'));
    const user = first!.name.split(/\s/)[0]!;
    await page.getByRole("region", { name: "Budgets" }).getByText(`User ${user}`).waitFor();
    const { budgets } = (await test.post("/budget/query", { project_id: PROJECT })).json();
    expect(budgets).toContainEqual(
      expect.objectContaining({
        scope: "svc_user_id",
        match: user,
        window: "month",
        timezone: ZONE,
        limit: { usd: 2.5, tokens: null, requests: null },
      }),
    );
  });

  ask("a price for a model without one", async (visitor) => {
    await show(page, `/${PROJECT}/overview?window=30d`);
    await visitor.click(page.getByRole("link", { name: "Set the price" }));
    await page.getByLabel("Input", { exact: true }).fill("2");
    await page.getByLabel("Output", { exact: true }).fill("8");
    await page.locator(".adds strong [title]").waitFor();
    await visitor.click(page.locator('dialog button:text-is("Save")'));
    await page.getByText("Every model of the last 30 days has a price.").waitFor();
    const answer = await test.post("/usage/stats", {
      project_id: PROJECT,
      start: new Date(NOW - 30 * DAY_MS).toISOString(),
      include_costs: true,
    });
    expect(answer.json().total.partial).toBe(false);
  });
});
