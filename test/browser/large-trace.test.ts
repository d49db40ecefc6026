import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatCount } from "../../web/format/figure.ts";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";

const PROJECT = "acme/large";
const CALLS = Number(process.env["LARGE_TRACE_CALLS"] ?? 20_000);
const BATCH = 10_000;
/** Within the window that the web UI opens with. */
const BEGAN = Date.now() - 3_600_000;

let test: TestPage;

/** An agent's long run: steps of a hundred calls, a model in each, one of them dear, and one call that failed. */
function callAt(at: number): object {
  const step = at - (at % 100);
  const second = (at: number): string => new Date(BEGAN + at * 10).toISOString();
  const model = { prompt_tokens: at === 12_321 ? 900_000 : 1000, completion_tokens: 10, requests: 1 };
  return {
    project_id: PROJECT,
    id: `c${at}`,
    trace_id: "large",
    parent_id: at === 0 ? null : at === step ? "c0" : `c${step}`,
    op_name:
      at === 0
        ? "agent"
        : at === step
          ? `step-${at / 100}`
          : at % 100 === 21
            ? "openai.chat"
            : `tool-${at % 7}`,
    started_at: second(at),
    ended_at: second(at === 0 ? CALLS : at + 50),
    attributes: {},
    inputs: {},
    summary: at % 100 === 21 ? { usage: { "gpt-4o": model } } : {},
    ...(at === 15_001 && { exception: "Error: the only one" }),
  };
}

describe.skipIf(chromiumPath === undefined)(`a trace of ${CALLS} calls in Chromium`, () => {
  beforeAll(async () => {
    test = await startPage();
    for (let from = 0; from < CALLS; from += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, CALLS - from) }, (_, at) => callAt(from + at));
      expect((await test.post(`/v2/${PROJECT}/calls/complete`, { batch })).status).toBe(200);
    }
  });
  afterAll(() => test.close());

  it("is shown completely: every call can be reached, and few rows are in the document", async () => {
    const page = await test.open(`/${PROJECT}/trace/large?groups=open`);
    const list = page.locator(".rows.tree");
    // what made the bill is known when all of it is
    await page.locator(".tree .body .row .cost .figure").first().waitFor();
    expect(await page.locator(".answer").innerText()).toContain(`${formatCount(CALLS).text} calls`);
    expect(Number(await list.getAttribute("aria-rowcount"))).toBeGreaterThan(CALLS);
    expect(await page.locator(".tree .body .row").count()).toBeLessThan(80);
    await list.focus();
    await page.keyboard.press("$");
    await page.waitForFunction(() =>
      document.querySelector(".row.active")?.textContent?.includes("openai.chat"),
    );
    expect(await page.locator(".row.active .cost").innerText()).toBe("$2.25");
    await page.keyboard.press("e");
    await page.waitForFunction(() => document.querySelector(".row.active .failed") !== null);
    await page.keyboard.press("End");
    const last = Number(await list.getAttribute("aria-rowcount")) - 2;
    await page.locator(`#call-${last}.active`).waitFor();
    await page.context().close();
  });

  it("does not redraw visible rows, and keeps few in the document from start to end", async () => {
    const page = await test.open(`/${PROJECT}/trace/large?groups=open`);
    await page.locator(".tree .body .row .cost .figure").first().waitFor();
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
    expect(await page.evaluate(mostRowsDuring, 30)).toBeLessThan(80);
    expect(await page.evaluate(rowsDrawnFor, 3)).toBeLessThanOrEqual(3);
    await page.context().close();
  });

  it("shows its progress, and can be cancelled", async () => {
    const page = await test.open(`/${PROJECT}/traces`);
    await page.locator(".traces .body .row").first().waitFor();
    await page.route("**/trace/calls", (route) => new Promise(() => void route));
    await page.locator(".rows").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped.").waitFor();
    await page.unroute("**/trace/calls");
    await page.getByRole("button", { name: "Retry" }).click();
    await page.locator(".rows.tree").waitFor();
    await page.context().close();
  });
});

/** From end to end in thirty frames: the most rows that the document has had. */
async function mostRowsDuring(frames: number): Promise<number> {
  const list = document.querySelector(".rows")!;
  let most = 0;
  list.scrollTop = 0;
  for (let at = 0; at < frames; at++) {
    list.scrollTop += list.scrollHeight / frames;
    await new Promise(requestAnimationFrame);
    most = Math.max(most, document.querySelectorAll(".tree .body .row").length);
  }
  return most;
}

/** How many rows of the document change when so many come into sight. */
async function rowsDrawnFor(rows: number): Promise<number> {
  const [list, body] = [document.querySelector(".rows")!, document.querySelector(".rows .body")!];
  const frame = (): Promise<unknown> => new Promise(requestAnimationFrame);
  const changed = new Set<Element | null>();
  const rowOf = (node: Node): Element | null =>
    (node instanceof Element ? node : node.parentElement)!.closest(".row");
  const observer = new MutationObserver((records) => {
    for (const { target, addedNodes } of records)
      for (const node of target === body ? addedNodes : [target]) changed.add(rowOf(node));
  });
  list.scrollTop = 2800;
  await frame();
  await frame();
  observer.observe(body, { subtree: true, childList: true, attributes: true, characterData: true });
  list.scrollTop += 28 * rows;
  while (changed.size === 0) await frame();
  await frame();
  observer.disconnect();
  return changed.size;
}
