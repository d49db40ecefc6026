import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { expect } from "vitest";
import { buildPage } from "./build-page.ts";
import { ROOT_KEY, startApp, type StartOptions, type TestApp } from "./start-app.ts";

/** Path of Chromium on Debian and Ubuntu, or `CHROMIUM`; `undefined` if there is none. */
export const chromiumPath = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
  (path) => path !== undefined && existsSync(path),
);

/** A machine with much to do is slow, not wrong. */
const PATIENCE_MS = 90_000;

export interface TestPage extends TestApp {
  readonly url: string;
  readonly browser: Browser;
  /** A tab that was handed the key, at a place behind `#`. */
  open(place: string, options?: OpenOptions): Promise<Page>;
}

export interface OpenOptions extends BrowserContextOptions {
  /** `null`: no key is handed over. */
  readonly key?: string | null;
  /** True: messages on the console are not errors. */
  readonly noisy?: boolean;
  /** The instant at which the clock of the browser stands still, in ms; without: the clock runs. */
  readonly now?: number;
}

/** The service with its page, and a browser. Every tab that is opened must stay silent on its console. */
export async function startPage(options: StartOptions = {}): Promise<TestPage> {
  const pageDir = await buildPage();
  const test = await startApp({ ...options, deps: { pageDir, ...options.deps } });
  const url = await test.app.listen({ host: "127.0.0.1", port: 0 });
  const browser = await chromium.launch({
    executablePath: chromiumPath!,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  const messages: string[] = [];
  return {
    ...test,
    url,
    browser,
    async open(place, { key = ROOT_KEY, noisy = false, now, ...context } = {}) {
      const opened = await browser.newContext({
        viewport: { width: 1280, height: 760 },
        timezoneId: "Europe/Berlin",
        reducedMotion: "reduce",
        ...context,
      });
      opened.setDefaultTimeout(PATIENCE_MS);
      if (now !== undefined) await opened.clock.setFixedTime(now);
      const page = await opened.newPage();
      page.on("pageerror", (error) => messages.push(error.message));
      if (!noisy) page.on("console", (message) => messages.push(`${message.type()}: ${message.text()}`));
      await page.goto(
        key === null ? `${url}/#${place}` : `${url}/#key=${key}&to=${encodeURIComponent(place)}`,
      );
      return page;
    },
    async close() {
      await browser.close();
      await test.close();
      expect(messages).toEqual([]);
    },
  };
}
