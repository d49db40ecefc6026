import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { numberOf, untilIdle } from "./reading.ts";

const PROJECT = "acme/live";
const BEGAN = Date.now() - 120_000;

let test: TestPage;

function at(seconds: number): string {
  return new Date(BEGAN + seconds * 1000).toISOString();
}

function started(id: string, seconds: number, more: object = {}) {
  const call = { project_id: PROJECT, id, trace_id: "run", op_name: id, started_at: at(seconds) };
  const parent_id = id === "agent" ? null : "agent";
  return { start: { parent_id, ...call, inputs: { asked: id }, attributes: {}, ...more } };
}

function ended(id: string, prompt_tokens: number, more: object = {}) {
  const summary = { usage: { "gpt-4o": { requests: 1, prompt_tokens, completion_tokens: 0 } } };
  return { end: { project_id: PROJECT, id, ended_at: at(110), output: { said: id }, summary, ...more } };
}

async function send(url: string, message: object): Promise<void> {
  const response = await test.post(url, message);
  expect(response.status, response.text).toBe(200);
}

const start = (...call: Parameters<typeof started>): Promise<void> => send("/call/start", started(...call));
const end = (...call: Parameters<typeof ended>): Promise<void> => send("/call/end", ended(...call));

interface Seen {
  readonly topPx: number;
  readonly scrolledPx: number;
  readonly isActive: boolean;
}

/** Returns the position of a call's row on the screen. */
function placeOf(page: Page, id: string): Promise<Seen | null> {
  return page.evaluate((id) => {
    const row = document.querySelector(`[data-call="${id}"]`)?.closest(".row");
    const list = document.querySelector(".rows.tree")!;
    if (row == null) return null;
    const topPx = Math.round(row.getBoundingClientRect().top - list.getBoundingClientRect().top);
    return { topPx, scrolledPx: list.scrollTop, isActive: row.classList.contains("active") };
  }, id);
}

function row(page: Page, id: string) {
  return page.locator(".tree .body .row", { has: page.locator(`[data-call="${id}"]`) });
}

function tokensOf(page: Page, id: string): Promise<number> {
  return row(page, id)
    .locator(".tokens")
    .innerText()
    .then((text) => numberOf(text));
}

describe.skipIf(chromiumPath === undefined)("a running trace in the web UI", () => {
  beforeAll(async () => {
    test = await startPage();
    const steps = Array.from({ length: 60 }, (_, step) => `step-${step}`);
    const starts = [
      started("agent", 0),
      started("model", 1, { display_name: "Model" }),
      ...steps.map((id, step) => started(id, 10 + step)),
      ...[0, 1, 2, 3, 4].map((search) => started(`search-${search}`, 80 + search, { op_name: "search" })),
    ];
    const batch = [
      ...starts.map((req) => ({ mode: "start", req })),
      ...steps.map((id) => ({ mode: "end", req: ended(id, 1) })),
    ];
    await send("/call/upsert_batch", { batch });
  });
  afterAll(() => test.close());

  it("shows ended calls, their usage and new calls, and keeps the expanded, selected, folded and visible rows", async () => {
    const page = await test.open(`/${PROJECT}/trace/run?call=model&tab=data`);
    await untilIdle(page);
    const details = page.locator(".details");
    await details.getByText("There is no output.").waitFor();
    await row(page, "model").locator(".live").waitFor();
    expect(await tokensOf(page, "agent")).toBe(60);

    // a group is opened, and a row chosen, far below the call that is opened
    const list = page.locator(".rows.tree");
    await list.focus();
    await page.keyboard.press("End");
    await page.locator(".tree .row.active .times", { hasText: "×5" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expect.poll(async () => (await placeOf(page, "search-1"))?.isActive).toBe(true);
    const before = (await placeOf(page, "search-1"))!;
    expect(before.scrolledPx).toBeGreaterThan(0);

    // one ends, two begin above what is in sight, and one below it
    await start("early-1", 2);
    await start("early-2", 3);
    await start("late", 100);
    await end("model", 1000);
    await end("search-1", 10, { exception: "Error: nothing found" });
    await details.getByText("said: model").waitFor();
    await row(page, "search-1").locator(".failed").waitFor();
    await untilIdle(page);
    const after = (await placeOf(page, "search-1"))!;
    expect([after.topPx, after.isActive]).toEqual([before.topPx, true]);
    expect(after.scrolledPx).toBe(before.scrolledPx + 2 * 28);
    expect(await row(page, "search-2").count()).toBe(1);
    expect(await tokensOf(page, "search-1")).toBe(10);
    expect(await details.getByRole("tab", { name: "Data", selected: true }).count()).toBe(1);
    expect(page.url()).toContain("call=model");

    // what somebody scrolled to stays, although the row that is chosen is out of sight
    await list.evaluate((element) => (element.scrollTop = 0));
    await row(page, "agent").waitFor();
    expect(await tokensOf(page, "agent")).toBe(1070);
    await start("last", 105);
    await expect.poll(async () => await list.getAttribute("aria-rowcount")).toBe("73");
    await untilIdle(page);
    expect(await list.evaluate((element) => element.scrollTop)).toBe(0);

    // all of it ends: nothing is asked any more
    for (const id of ["early-1", "early-2", "late", "last", "search-0", "search-2", "search-3", "search-4"])
      await end(id, 1);
    await end("agent", 0);
    await row(page, "agent").locator(".live").waitFor({ state: "detached" });
    await expect.poll(() => tokensOf(page, "agent")).toBe(1078);
    await expect.poll(() => page.locator(".live").count()).toBe(0);
    await page.context().close();
  });
});
