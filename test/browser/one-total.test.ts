import fc from "fast-check";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { forest } from "../models/forests.ts";
import { messagesOf, WINDOW } from "../models/usage-history.ts";
import { allRows, cellOf, downloadCsv, numberOf, readTables, show, untilIdle, type Cell } from "./reading.ts";

const PROJECTS = 3;
const OPTIONS = `window=${WINDOW.start}..${WINDOW.end}&zone=UTC`;
/** By which the same usage is divided. */
const GROUPS = ["llm", "provider", "op_name", "svc_user_id", "attributes.tenant", "trace_id", "llm,op_name"];

interface Cost {
  readonly total_cost: number | null;
  readonly partial: boolean;
}
interface Trace extends Cost {
  readonly trace_id: string;
  readonly root: { readonly id: string } | null;
}

let test: TestPage;

const random = fc
  .sample(
    fc.array(forest({ maxCalls: 8, inclusive: false, cycles: false, shared: true }), {
      minLength: 2,
      maxLength: 5,
    }),
    { numRuns: PROJECTS, seed: chosenSeed() },
  )
  .map((forests, number) => ({ project: `acme/random-${number}`, forests }));

/** A cost in all its digits, with ≥ where it leaves something out; a dash where nothing has a price. */
function expectCost(cell: Cell | undefined, { total_cost: cost, partial }: Cost): void {
  expect(cell!.text.includes("≥"), cell!.text).toBe(partial && cost !== null);
  if (cost === null) expect(cell!.text).toContain("—");
  else expect(numberOf(cell!.title)).toBeCloseTo(cost, 12);
}

/** Adds costs, as far as they are known. */
function sumOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { title }) => sum + (numberOf(title) || 0), 0);
}

/** A view in the window of all calls. */
async function go(page: Page, place: string): Promise<void> {
  await show(page, `${place}${place.includes("?") ? "&" : "?"}${OPTIONS}`);
  await page.locator(".answer .sum, .figures .value").first().waitFor();
  await untilIdle(page);
}

describe.skipIf(chromiumPath === undefined)("one total in every view of the web UI", () => {
  beforeAll(async () => {
    test = await startPage();
    for (const { project, forests } of random) {
      const batch = forests.flatMap((rows, number) => messagesOf(rows, `t${number}`));
      expect((await test.post(`/v2/${project}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
    }
  });
  afterAll(() => test.close());

  it.each(random)("of $project", async ({ project }) => {
    const listed = await test.post("/traces/query", { project_id: project, ...windowOf(), limit: 500 });
    const { traces, total } = listed.json() as { readonly traces: readonly Trace[]; readonly total: Cost };
    const overTime = await test.post("/usage/stats", { project_id: project, ...WINDOW });
    expect(overTime.json().total.total_cost).toBeCloseTo(total.total_cost!, 12);

    const page = await test.open(`/acme/nothing/feedback`);
    const headline = page.locator(".answer .sum");
    await go(page, `/${project}/traces`);
    expectCost(await cellOf(headline), total);
    for (const row of await allRows(page))
      expectCost(
        row["cost"],
        traces.find(({ trace_id: id }) => row.id.title.includes(`/trace/${id}`))!,
      );
    const column = await downloadCsv(page);
    expect(column("total_cost").reduce((sum, usd) => sum + Number(usd), 0)).toBeCloseTo(
      total.total_cost!,
      12,
    );
    expect(column("partial").includes("true")).toBe(total.partial);

    for (const group of GROUPS) {
      await go(page, `/${project}/usage?group=${group}`);
      expectCost(await cellOf(headline), total);
      const rows = (await page.evaluate(readTables))[0]!;
      const column = await page.evaluate(columnOf, "cost");
      const all = rows.map(({ cells }) => cells[column]!);
      const [cells, foot] = [all.slice(0, -1), all.at(-1)];
      expectCost(foot, total);
      expect(sumOf(cells), group).toBeCloseTo(total.total_cost!, 12);
      expect(cells.some(({ text }) => text.includes("≥") || text.includes("—"))).toBe(total.partial);
    }

    await go(page, `/${project}/overview`);
    expectCost(await cellOf(page.locator(".figures .value").first()), total);

    for (const trace of traces) {
      await go(page, `/${project}/trace/${trace.trace_id}?call=${trace.root!.id}&tab=cost`);
      await page.locator(".receipt table").first().waitFor();
      await untilIdle(page);
      expectCost(await cellOf(headline), trace);
      const root = (await allRows(page)).find(({ id }) => id.title === trace.root!.id);
      expectCost(root!["cost"], trace);
      expectCost((await page.evaluate(readTables)).at(-1)!.at(-1)!.cells[2], trace);
    }
    await page.context().close();
  });
});

function windowOf() {
  const { start, end } = WINDOW;
  return { start, end };
}

/** The place of a column among the cells that are no heads of rows. */
function columnOf(name: string): number {
  const heads = [...document.querySelectorAll("table thead tr:last-child th")];
  return heads.findIndex((head) => (head as HTMLElement).innerText.toLowerCase().startsWith(name)) - 1;
}
