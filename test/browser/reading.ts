import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** Waits until everything that is drawn is the answer to what is asked now. */
export async function untilIdle(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector("main") !== null && document.querySelector("[aria-busy=true]") === null,
  );
}

/** Goes to another place behind `#` as a link does, and waits until it is drawn. */
export async function show(page: Page, place: string): Promise<void> {
  await page.evaluate(
    (hash) =>
      new Promise<void>((done) => {
        const before = location.href;
        addEventListener("hashchange", () => requestAnimationFrame(() => done()), { once: true });
        location.hash = hash;
        if (location.href === before) done();
      }),
    place,
  );
  await untilIdle(page);
}

export interface Cell {
  readonly text: string;
  /** Tooltip, with all digits. */
  readonly title: string;
}
export type Row = Readonly<Record<string, Cell>> & { readonly id: Cell };

/** All rows of the list, scrolled through: each cell by its classes. */
export async function allRows(page: Page): Promise<readonly Row[]> {
  await untilIdle(page);
  await page.locator(".rows .body .row").first().waitFor();
  const rows = new Map<string, Row>();
  await page.evaluate(scrollTo, 0);
  for (let top = 0; ;) {
    const { seen, heightPx, atEnd } = await page.evaluate(readRows);
    for (const row of seen) rows.set(row.id.text, row);
    if (atEnd) return [...rows.values()];
    top += heightPx / 2;
    await page.evaluate(scrollTo, top);
    await untilIdle(page);
  }
}

function readRows(): { seen: Row[]; heightPx: number; atEnd: boolean } {
  const list = document.querySelector(".rows")!;
  const seen = [...list.querySelectorAll(".body .row")].map((row) => {
    const cells = [...row.querySelectorAll<HTMLElement>("[role=gridcell]")].flatMap((cell) => {
      const name = cell.className.replace("number ", "");
      const [own, text] = [cell.querySelector<HTMLElement>(".own"), cell.innerText];
      const titled = cell.matches("[title]") ? [cell] : [...cell.querySelectorAll("[title]")];
      const title = (titled.at(own === null ? 0 : -1) ?? cell).getAttribute("title") ?? "";
      if (own === null) return [[name, { text, title }]];
      const ownTitle = titled[0]?.getAttribute("title") ?? "";
      return [
        [`own-${name}`, { text: own.innerText, title: ownTitle }],
        [name, { text: text.split(/of\s+/u).at(-1)!, title }],
      ];
    });
    const which =
      row.querySelector("a")?.getAttribute("href") ??
      row.querySelector("[data-call]")?.getAttribute("data-call") ??
      "";
    return Object.fromEntries([["id", { text: row.id, title: which }], ...cells]) as Row;
  });
  const heightPx = list.clientHeight;
  return { seen, heightPx, atEnd: list.scrollTop + heightPx >= list.scrollHeight - 1 };
}

/** Done when the rows of that place are drawn. */
function scrollTo(top: number): Promise<void> {
  document.querySelector(".rows")!.scrollTop = top;
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
}

/** 12.3K, $0.0117 and their like as numbers. */
export function numberOf(text: string): number {
  const [, digits = "", unit = ""] = /([\d.,]+)(?:([KMBT])\b)?/.exec(text) ?? [];
  return Number(digits.replaceAll(",", "")) * { "": 1, K: 1e3, M: 1e6, B: 1e9, T: 1e12 }[unit]!;
}

export function expectFigure(cell: Cell | undefined, value: number): void {
  expect(numberOf(cell!.title)).toBeCloseTo(value, 12);
  expect(Math.abs(numberOf(cell!.text) - value)).toBeLessThanOrEqual(Math.abs(value) * 0.005 + 1e-15);
}

/** Own figures of 0, or of all, are not shown. */
export function expectOwn(cell: Cell | undefined, own: number, total: number): void {
  if (cell === undefined) expect([0, total]).toContain(own);
  else expectFigure(cell, own);
}

/** The figure somewhere on the page. */
export async function cellOf(place: Locator): Promise<Cell> {
  const title = await place.locator("[title]").first().getAttribute("title");
  return { text: await place.innerText(), title: title ?? "" };
}

/** Reads the rows of each table: name and cells. */
export function readTables(): { name: string; cells: Cell[] }[][] {
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

/** Downloads the CSV of a view; reads a column of it. */
export async function downloadCsv(page: Page): Promise<(column: string) => readonly string[]> {
  const more = page.getByRole("button", { name: "More" });
  if ((await more.count()) > 0) await more.click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "CSV" }).click(),
  ]);
  const [head, ...lines] = readFileSync(await download.path(), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  return (column) => lines.map((cells) => cells[head!.indexOf(column)]!);
}

/** Presses Refresh; but a page that has just learnt that its key was revoked has the button no more. */
export async function refreshIfThere(page: Page): Promise<void> {
  await page.evaluate(() => document.querySelector<HTMLElement>("button[title^='Refresh']")?.click());
}
