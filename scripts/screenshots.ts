import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { chromium, type Browser } from "playwright-core";
import { buildApp } from "../src/app.ts";
import { generateKey } from "../src/http/auth/api-key.ts";
import { openEmbedded } from "../src/store/connect.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { orExit } from "./command-line.ts";
import { loadSamples, PROJECT } from "./demo/load-samples.ts";
import { pageAddress } from "./demo/requests.ts";

const PICTURES = join(import.meta.dirname, "../docs/pictures");
const WIDE = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 760 };

interface Picture {
  readonly name: string;
  readonly place: string;
  readonly shows: string;
  readonly size?: typeof WIDE;
  readonly dark?: boolean;
}

const pictures: readonly Picture[] = [
  { name: "overview", place: "overview?window=24h", shows: ".figures svg" },
  { name: "traces", place: "traces?sort=cost", shows: ".traces .row" },
  { name: "trace", place: "trace/support-1?call=support-1-plan", shows: ".conversation" },
  {
    name: "trace-dark",
    place: "trace/contract-1?call=contract-1-long&tab=cost",
    shows: ".receipt table",
    dark: true,
  },
  { name: "receipt", place: "trace/contract-1?call=contract-1-long&tab=cost", shows: ".receipt table" },
  { name: "price", place: "settings?model=acme-contracts-7b", shows: "dialog" },
  { name: "usage", place: "usage?window=24h", shows: ".usage svg" },
  { name: "feedback", place: "feedback?path=score&window=24h", shows: ".path-details svg" },
  { name: "phone", place: "trace/support-1", shows: ".tree .row", size: PHONE },
];

/** The pictures of the docs, of the demo's data. */
await orExit(async (settings) => {
  const dataDir = mkdtempSync(join(tmpdir(), "sumtree-pictures-"));
  const engine = await openEmbedded(dataDir);
  await migrate(engine, { cluster: undefined });
  const key = generateKey().text;
  const app = await buildApp(
    { ...settings, DATA_DIR: dataDir },
    { engine, rootKey: key, logger: pino({ level: "warn" }) },
  );
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  await loadSamples({ url, key });
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  mkdirSync(PICTURES, { recursive: true });
  for (const picture of pictures) await take(browser, picture, pageAddress({ url, key, project: PROJECT }));
  await browser.close();
  await app.close();
  await engine.close();
  rmSync(dataDir, { recursive: true, force: true });
  process.exit(0);
});

async function take(
  browser: Browser,
  { name, place, shows, size = WIDE, dark = false }: Picture,
  address: string,
): Promise<void> {
  const page = await browser.newPage({
    viewport: size,
    colorScheme: dark ? "dark" : "light",
    timezoneId: "Europe/Berlin",
  });
  await page.goto(address.replace(/to=.*$/, `to=${encodeURIComponent(`/${PROJECT}/${place}`)}`));
  await page.locator(shows).first().waitFor();
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  await page.close();
  console.log(`docs/pictures/${name}.png`);
}
