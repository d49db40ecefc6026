import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { cellOf, expectFigure, numberOf, readTables, settled } from "./reading.ts";

const PROJECT = "acme/asked";
const DAY_MS = 86_400_000;
const ZONE = "Europe/Berlin";
/** Dollars of a million tokens of input. */
const PRICES = { "gpt-4o": 2.5, "gpt-4o-mini": 0.15 } as const;
type Model = keyof typeof PRICES;

interface Sent {
  readonly trace: string;
  readonly atMs: number;
  readonly model: Model | "our-own";
  readonly tokens: number;
  readonly user: string;
  readonly failed: boolean;
  readonly says: string;
}

let test: TestPage;
/** Noon of the day before this one, by the clock of Berlin or near it: far from midnight. */
const noon = (): number => Math.floor(Date.now() / DAY_MS) * DAY_MS + 11 * 3_600_000;

const sent: readonly Sent[] = Array.from({ length: 24 }, (_, at) => ({
  trace: `t${at}`,
  atMs: noon() - (1 + (at % 3)) * DAY_MS + at * 60_000,
  model: at % 8 === 7 ? "our-own" : at % 2 === 0 ? "gpt-4o" : "gpt-4o-mini",
  tokens: 1000 * (at + 1),
  user: at % 3 === 0 ? "ana" : "ben",
  failed: at % 6 === 0,
  says: at === 5 ? "the blue umbrella" : "hello",
}));

/** What the calls cost that have a price; and whether some have none. The oracle of all figures below. */
function costOf(calls: readonly Sent[]): { readonly usd: number; readonly isPartial: boolean } {
  const usd = calls.reduce(
    (sum, { model, tokens }) => sum + (model === "our-own" ? 0 : (PRICES[model] * tokens) / 1e6),
    0,
  );
  return { usd, isPartial: calls.some(({ model }) => model === "our-own") };
}

async function expectCost(page: Page, calls: readonly Sent[]): Promise<void> {
  const { usd, isPartial } = costOf(calls);
  await settled(page);
  const cell = await cellOf(page.locator(".answer .sum"));
  expectFigure(cell, usd);
  expect(cell.text.startsWith("≥")).toBe(isPartial);
}

describe.skipIf(chromiumPath === undefined)("questions of everyday, each in at most four clicks", () => {
  beforeAll(async () => {
    test = await startPage();
    const batch = sent.flatMap(({ trace, atMs, model, tokens, user, failed, says }) => {
      const call = (id: string, more: object) => ({
        project_id: PROJECT,
        id,
        trace_id: trace,
        started_at: new Date(atMs).toISOString(),
        ended_at: new Date(atMs + 1000).toISOString(),
        attributes: {},
        inputs: {},
        summary: {},
        wb_user_id: user,
        ...more,
      });
      const messages = [{ role: "user", content: says }];
      return [
        call(`${trace}-root`, { op_name: "answer" }),
        call(`${trace}-model`, {
          op_name: "openai.chat",
          parent_id: `${trace}-root`,
          inputs: { model, messages },
          output: { choices: [{ message: { role: "assistant", content: "I see." } }] },
          summary: { usage: { [model]: { requests: 1, prompt_tokens: tokens, completion_tokens: 0 } } },
          ...(failed && { exception: "Error: out of luck" }),
        }),
      ];
    });
    expect((await test.post(`/v2/${PROJECT}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
  });
  afterAll(() => test.close());

  /** Opens the project, and counts the clicks. */
  async function begin(): Promise<{
    page: Page;
    click: (name: string) => Promise<void>;
    clicks: () => number;
  }> {
    const page = await test.open(`/${PROJECT}/overview?window=30d&zone=${ZONE}`);
    await settled(page);
    let clicks = 0;
    const click = async (selector: string): Promise<void> => {
      clicks++;
      await page.locator(selector).first().click();
      await settled(page);
    };
    return { page, click, clicks: () => clicks };
  }
  const view = (name: string): string => `.rail nav a:text-is("${name}")`;
  const yesterday = (): readonly Sent[] => sent.filter(({ atMs }) => atMs >= noon() - DAY_MS);

  it("what did yesterday cost, by model?", async () => {
    const { page, click, clicks } = await begin();
    await click(view("Usage"));
    await click("button.range");
    await click('.named button:text-is("Yesterday")');
    await expectCost(page, yesterday());
    const rows = (await page.evaluate(readTables))[0]!;
    for (const [model, price] of Object.entries(PRICES)) {
      const used = yesterday().filter((one) => one.model === model);
      const row = rows.find(({ name }) => name.startsWith(`${model} `) || name === model)!;
      const tokens = used.reduce((sum, one) => sum + one.tokens, 0);
      expectFigure(row.cells[7], (price * tokens) / 1e6);
    }
    expect(clicks()).toBeLessThanOrEqual(4);
    await page.context().close();
  });

  it("which traces failed, and what did they cost? why is one so expensive?", async () => {
    const { page, click, clicks } = await begin();
    await click('.figures a:has-text("Failed calls")');
    const failed = sent.filter((one) => one.failed);
    await expectCost(page, failed);
    expect(await page.locator(".traces .body .row").count()).toBe(failed.length);
    const dearest = failed.toSorted((a, b) => costOf([b]).usd - costOf([a]).usd)[0]!;
    await click(".traces .body .row .name a");
    expect(page.url()).toContain(`trace/${dearest.trace}`);
    await expectCost(page, [dearest]);
    await click('.tools button:text-is("Receipt")');
    await page.locator(".receipt tfoot").waitFor();
    expectFigure(await cellOf(page.locator(".receipt tfoot td").first()), costOf([dearest]).usd);
    expect(clicks()).toBeLessThanOrEqual(4);
    await page.context().close();
  });

  it("in which traces does a word occur, and what was said?", async () => {
    const { page, click, clicks } = await begin();
    await click(view("Traces"));
    await page.keyboard.press("/");
    await page.keyboard.type("umbrella");
    await page.keyboard.press("Enter");
    await page.locator(".chip", { hasText: "umbrella" }).waitFor();
    await expectCost(
      page,
      sent.filter(({ says }) => says.includes("umbrella")),
    );
    await click(".traces .body .row .name a");
    await click('[data-call="t5-model"]');
    await page.locator(".conversation .user", { hasText: "the blue umbrella" }).waitFor();
    await page.locator(".conversation .assistant", { hasText: "I see." }).waitFor();
    expect(clicks()).toBeLessThanOrEqual(4);
    await page.context().close();
  });

  it("what does a price add, and is it in the sums once it is set?", async () => {
    const { page, click, clicks } = await begin();
    const left = sent.filter(({ model }) => model === "our-own").reduce((sum, { tokens }) => sum + tokens, 0);
    await click('.attention a:text-is("Set the price")');
    await page.getByLabel("Input", { exact: true }).fill("2");
    await page.getByLabel("Output", { exact: true }).fill("8");
    const adds = page.locator(".adds strong [title]");
    await adds.waitFor();
    expect(numberOf((await adds.getAttribute("title"))!)).toBeCloseTo((left * 2) / 1e6, 12);
    await click('dialog button:text-is("Save")');
    await page.getByText("Every model of the last 30 days has a price.").waitFor();
    await click(view("Usage"));
    const cell = await cellOf(page.locator(".answer .sum"));
    expectFigure(cell, costOf(sent).usd + (left * 2) / 1e6);
    expect(cell.text).not.toContain("≥");
    expect(clicks()).toBeLessThanOrEqual(4);
    await page.context().close();
  });

  it("a key for a colleague is made, and signs in by its link", async () => {
    const { page, click, clicks } = await begin();
    await click(view("Settings"));
    await click('button:text-is("New key")');
    await page.getByLabel("Name").fill("ana");
    await click('dialog button:text-is("Create")');
    const key = await page.locator("dialog pre").innerText();
    expect((await test.post("/trace/usage", { project_id: PROJECT }, { key })).status).toBe(200);
    expect(clicks()).toBeLessThanOrEqual(4);
    const colleague = await test.open(`/${PROJECT}/overview`, { key });
    await colleague.getByRole("button", { name: "Signed in as ana" }).waitFor();
    await colleague.context().close();
    await page.context().close();
  });
});
