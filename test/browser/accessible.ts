import axe from "axe-core";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const SIZES = { phone: { width: 390, height: 844 }, wide: { width: 1280, height: 760 } };
export interface Look {
  readonly size: keyof typeof SIZES;
  readonly theme: "light" | "dark";
}
export const LOOKS: readonly Look[] = [
  { size: "phone", theme: "dark" },
  { size: "phone", theme: "light" },
  { size: "wide", theme: "dark" },
  { size: "wide", theme: "light" },
];
/** Directory of screenshots; `undefined`: none are taken. */
const PICTURES = process.env["PAGE_PICTURES"];

/** Returns axe's violations on the page. */
async function findings(page: Page): Promise<readonly string[]> {
  if (await page.evaluate(() => !("axe" in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ["violations"] }),
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join("\n")}`);
}

/** Axe finds nothing, and nothing is wider than the window. `name`: of the state that is looked at. */
export async function expectAccessible(page: Page, name: string, looks = LOOKS): Promise<void> {
  for (const { size, theme } of looks) {
    const look = `${name}, ${size}, ${theme}`;
    await page.setViewportSize(SIZES[size]);
    await page.emulateMedia({ colorScheme: theme });
    expect(await findings(page), look).toEqual([]);
    const overflowPx = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflowPx, look).toBeLessThanOrEqual(0);
    if (PICTURES === undefined) continue;
    await page.screenshot({ path: join(PICTURES, `${look.replaceAll(/[^a-z0-9]+/gi, "-")}.png`) });
  }
}
