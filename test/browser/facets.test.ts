import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { numberOf, show, untilIdle } from "./reading.ts";

const PROJECT = "acme/names";
const ADDRESS = `weave:///${PROJECT}/op/predict`;
/** Operation, display name and exception of roots; the last has a call below it that failed. */
const ROOTS: readonly (readonly [op: string, display: string | null, exception: string | null])[] = [
  ["predict", null, "timeout"],
  ["predict", "Nightly run", "Timeout after 12 s"],
  [`${ADDRESS}:v1`, null, "timeout after 3 s"],
  [`${ADDRESS}:v1`, "Nightly run", "user 4711 not found"],
  [`${ADDRESS}:v12`, null, "user 4712 not found"],
  ["answer", "predict", "user ab12cd34 not found"],
  ["answer", null, "42"],
  ["x/op/predict:v1", null, null],
  ["answer", null, null],
];
let test: TestPage;
let page: Page;

describe.skipIf(chromiumPath === undefined)("facets of traces in Chromium", () => {
  beforeAll(async () => {
    test = await startPage();
    const at = (seconds: number): string => new Date(Date.now() - 3_600_000 + seconds * 1000).toISOString();
    const call = (id: string, more: object) => ({
      project_id: PROJECT,
      trace_id: id,
      id,
      started_at: at(0),
      ended_at: at(2),
      attributes: {},
      inputs: {},
      summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 1000, completion_tokens: 10 } } },
      ...more,
    });
    const roots = ROOTS.map(([op_name, display_name, exception], number) =>
      call(`t${number}`, { op_name, display_name, exception }),
    );
    const below = call("below", { trace_id: "t8", parent_id: "t8", op_name: "tool", exception: "no luck" });
    const stored = await test.post(`/v2/${PROJECT}/calls/complete`, { batch: [...roots, below] });
    expect(stored.json()).toEqual({ rejected: [] });
    page = await test.open(`/${PROJECT}/traces`);
  });
  afterAll(() => test.close());

  const shown = async (q: string): Promise<number> => {
    await show(page, `/${PROJECT}/traces?q=${encodeURIComponent(q)}`);
    if ((await page.locator(".answer > span").count()) < 2) return 0;
    return numberOf(await page.locator(".answer > span").nth(1).innerText());
  };
  const linesOf = (facet: string) =>
    page.getByRole("region", { name: facet, exact: true }).locator("li > a:first-child");

  it.each([
    ["Operation of the root", { predict: 5, answer: 3, "x/op/predict:v1": 1 }],
    ["Error of the root", { "user … not found": 3, "timeout after … s": 2, timeout: 1, "42": 1 }],
  ] as const)("%s: each number is that of the list it leads to", async (facet, counts) => {
    await shown("");
    const lines = linesOf(facet);
    await lines.first().waitFor();
    const texts = await lines.evaluateAll((all) =>
      all.map((one) => [
        one.querySelector("bdi")!.textContent,
        Number(one.querySelector(".number")!.textContent),
        one.getAttribute("href")!,
      ]),
    );
    expect(Object.fromEntries(texts.map(([name, count]) => [String(name).toLowerCase(), count]))).toEqual(
      counts,
    );
    for (const [, count, href] of texts) {
      await show(page, String(href).slice(1));
      expect(numberOf(await page.locator(".answer > span").nth(1).innerText())).toBe(count);
      expect(await page.locator("main").innerText()).not.toContain("weave:///");
    }
  });

  it("an operation has one name, with and without its address", async () => {
    expect(await shown("root.op:predict")).toBe(6);
    expect(await shown("op:predict -root.op:answer")).toBe(6);
    expect(await shown(`root.op:${ADDRESS}:v1`)).toBe(2);
    await page.locator(".chip", { hasText: "root.op:predict:v1@acme/names" }).waitFor();
    await untilIdle(page);
    const line = linesOf("Operation of the root").filter({ hasText: "predict:v1@acme/names" });
    expect(await line.locator(".number").first().innerText()).toBe("2");
    expect(await shown("exception:luck")).toBe(1);
    expect(await shown("LUCK")).toBe(1);
  });

  it("a CSV file has local starts, and its project and range in its name", async () => {
    await show(page, `/${PROJECT}/traces?zone=Asia/Kathmandu&window=24h`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const days = /^traces acme-names \d{4}-\d\d-\d\d–\d{4}-\d\d-\d\d\.csv$/;
    expect(download.suggestedFilename()).toMatch(days);
    const [head, first] = readFileSync(await download.path(), "utf8").split("\r\n");
    expect(head).toMatch(/^started \(Asia\/Kathmandu\),trace_id,/);
    const cells = first!.split(",");
    const startedAt = cells[head!.split(",").indexOf("root_started_at")]!;
    expect(cells[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d\+05:45$/);
    expect(Date.parse(cells[0]!)).toBe(Date.parse(`${startedAt.slice(0, 16)}Z`));
  });

  it("a low window, as at 200 % zoom, scrolls as a whole instead of leaving three rows", async () => {
    await page.setViewportSize({ width: 720, height: 450 });
    await show(page, `/${PROJECT}/traces`);
    const [list, rail] = [page.locator(".rows"), page.locator(".rail")];
    const { y, height } = (await list.boundingBox())!;
    expect(height).toBeGreaterThanOrEqual(450);
    expect((await rail.boundingBox())!.y).toBeGreaterThanOrEqual(y + height);
  });
});
