import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSamples, PROJECT } from "../../scripts/demo/load-samples.ts";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { expectAccessible } from "./accessible.ts";
import { allRows, cellOf, untilIdle, show } from "./reading.ts";

/** Without a price. */
const MODEL = "acme-contracts-7b";

let test: TestPage;

/** Returns the names of the listed traces. */
async function namesOf(page: Page): Promise<readonly string[]> {
  return (await allRows(page)).map((row) => row["name"]!.text.trim());
}

/** With the tabulator, as far as to the rows. */
async function tabTo(page: Page, name: string): Promise<void> {
  const isThere = (name: string): boolean => document.activeElement?.classList.contains(name) ?? false;
  for (let at = 0; at < 40 && !(await page.evaluate(isThere, name)); at++) await page.keyboard.press("Tab");
  expect(await page.evaluate(isThere, name)).toBe(true);
}

describe.skipIf(chromiumPath === undefined)("using the web UI in Chromium", () => {
  let page: Page;
  beforeAll(async () => {
    test = await startPage();
    await loadSamples({ url: test.url, key: ROOT_KEY });
    page = await test.open(`/${PROJECT}/traces`);
  });
  afterAll(() => test.close());

  it("filters traces by a query in the address", async () => {
    await show(page, `/${PROJECT}/traces`);
    await page.getByLabel("Search traces").fill("op:refund_agent.run");
    await page.keyboard.press("Enter");
    await page.locator(".chip").waitFor();
    expect(await namesOf(page)).toEqual([expect.stringContaining("refund_agent.run")]);
    const again = await test.open(decodeURIComponent(new URL(page.url()).hash.slice(1)));
    await again.locator(".chip").waitFor();
    expect(await namesOf(again)).toEqual([expect.stringContaining("refund_agent.run")]);
    await again.context().close();
  });

  it("chooses days of the shown zone in a calendar, and a period to compare them with", async () => {
    const page = await test.open(
      `/${PROJECT}/usage?window=2026-11-02T00:00:00Z..2026-11-04T00:00:00Z&zone=Asia/Tokyo`,
    );
    const optionOf = (name: string): string | null =>
      new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get(name);
    await page.getByRole("button", { name: "Range:" }).click();
    await page.getByRole("button", { name: "Go to the Previous Month" }).click();
    await page.getByRole("button", { name: /October 5th, 2026/ }).click();
    await page.getByRole("button", { name: /October 7th, 2026/ }).click();
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.waitForURL(/window=2026-10-04/);
    expect(optionOf("window")).toBe("2026-10-04T15:00:00.000Z..2026-10-07T15:00:00.000Z");
    await page.getByRole("button", { name: "Range:" }).click();
    await page.getByRole("button", { name: /October 2nd, 2026/ }).click();
    await page.getByRole("button", { name: /October 4th, 2026/ }).click();
    await page.getByRole("button", { name: "Compare with it" }).click();
    await page.waitForURL(/compare=/);
    expect(optionOf("compare")).toBe("2026-10-01T15:00:00.000Z..2026-10-04T15:00:00.000Z");
    await page.context().close();
  });

  it("finds views, models, traces and actions by Ctrl-K, again and again", async () => {
    const page = await test.open(`/${PROJECT}/traces`);
    await untilIdle(page);
    const find = async (text: string, choice: RegExp): Promise<void> => {
      await page.keyboard.press("Control+k");
      await page.getByRole("option", { name: /^gemini-2.5-pro/ }).waitFor();
      await page.keyboard.type(text);
      await page.getByRole("option", { name: choice, selected: true }).waitFor();
      await page.keyboard.press("Enter");
    };
    await find("usage", /^Usage/);
    await page.waitForURL(/\/usage/);
    await find("gemini", /^gemini-2.5-pro/);
    await page.waitForURL(/\/traces\?.*q=model%3Agemini-2.5-pro/);
    await find("contract-1", /^contract-1/);
    await page.waitForURL(/\/trace\/contract-1/);
    await find("show", /^Show the keys/);
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await page.context().close();
  });

  it("opens a trace with its call beside it, the focus in the tree, and goes to the dearest call", async () => {
    const page = await test.open(`/${PROJECT}/traces?sort=cost`);
    await page.locator(".rows").getByRole("link", { name: "contract_review" }).click();
    await page.getByRole("region", { name: "Call contract_review" }).waitFor();
    await page.waitForFunction(() => document.activeElement?.classList.contains("tree"));
    await page.getByRole("button", { name: "Dearest call" }).click();
    const dearest = page.getByRole("region", { name: "Call google.generate_content" });
    await dearest.waitFor();
    await page.getByRole("tab", { name: "Cost" }).click();
    const first = page.url();
    await dearest.getByRole("button", { name: "gemini-2.5-pro" }).first().click();
    await page.waitForFunction((url) => location.href !== url, first);
    await dearest.waitFor();
    await page.getByRole("button", { name: "Close the details" }).click();
    await page.locator(".details").waitFor({ state: "detached" });
    await page.reload();
    await untilIdle(page);
    expect(await page.locator(".details").count()).toBe(0);
    const row = page.locator(".tree .body .row").nth(1);
    const width = () => row.locator(".bar").evaluate((bar) => (bar as HTMLElement).style.width);
    const whole = await width();
    await row.click();
    await page.getByRole("button", { name: "Zoom" }).click();
    await expect.poll(width).toBe("100%");
    await page.getByRole("button", { name: "Whole trace" }).click();
    await expect.poll(width).toBe(whole);
    expect(await page.locator(".tree .model").count()).toBeGreaterThan(0);
    await page.context().close();
  });

  it("supports navigation, folding, search and reading by keyboard", async () => {
    const page = await test.open(`/${PROJECT}/traces?sort=cost`);
    await untilIdle(page);
    const active = page.locator(".rows .row.active");
    const rows = page.locator(".tree .body .row");
    const expectActive = (text: string) => expect.poll(() => active.innerText()).toContain(text);
    await tabTo(page, "rows");
    const wanted = (await namesOf(page)).findIndex((name) => name.includes("Support agent"));
    await page.keyboard.press("Home");
    for (let at = 0; at < wanted; at++) await page.keyboard.press("ArrowDown");
    await expectActive("Support agent");
    await page.keyboard.press("Enter");
    await page.locator(".rows.tree").waitFor();
    await tabTo(page, "tree");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => rows.count()).toBe(1);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => rows.count()).toBe(6);
    await page.keyboard.press("e");
    await expectActive("track_parcel");
    await page.keyboard.press("Home");
    await expectActive("Support agent");
    await untilIdle(page);
    await page.keyboard.press("$");
    await expectActive("anthropic.messages.create");
    await page.keyboard.press("/");
    await page.keyboard.type("guard");
    await page.locator(".find", { hasText: "1" }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await expectActive("guardrail");
    await page.keyboard.press("Enter");
    await page.locator(".details").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".details").waitFor({ state: "detached" });
    await page.goBack();
    await page.locator(".details").waitFor();
    await page.context().close();
  });

  it("is printed in light colours, in any theme", async () => {
    const opened = await test.open(`/${PROJECT}/usage`, { colorScheme: "dark" });
    await untilIdle(opened);
    const inkOf = (): Promise<string> => opened.evaluate(() => getComputedStyle(document.body).color);
    const dark = await inkOf();
    await opened.emulateMedia({ media: "print" });
    await expect.poll(inkOf).not.toBe(dark);
    await opened.emulateMedia({ colorScheme: "light", media: "screen" });
    const light = await inkOf();
    await opened.emulateMedia({ colorScheme: "dark", media: "print" });
    expect(await inkOf()).toBe(light);
    await opened.context().close();
  });

  it("opens, points at, focuses and zooms the buckets of a chart", async () => {
    const day = 86_400_000;
    const midnight = Math.floor(Date.now() / day) * day;
    const windowOf = (from: number, to: number) =>
      [from, to].map((ms) => new Date(ms).toISOString()).join("..");
    const place = `/${PROJECT}/usage?zone=UTC&interval=day&rows=time&window=${windowOf(midnight - 3 * day, midnight + day)}`;
    const page = await test.open(place);
    await untilIdle(page);
    page.setDefaultTimeout(6000);
    const buckets = page.locator("[data-bucket]");
    const tooltip = page.locator(".tooltip");
    const optionsOf = (href: string | null) => new URLSearchParams(href!.split("?")[1]);
    const names = await page.locator("table.buckets tbody th[scope=row]").allInnerTexts();
    expect(names).toHaveLength(4);
    // over a bucket's height and width
    const told: string[] = [];
    for (const [at, name] of names.entries()) {
      const { x, y, width, height } = (await buckets.nth(at).locator("rect").boundingBox())!;
      for (const part of [0.25, 0.75]) {
        await page.mouse.move(x + part * width, y + 0.1 * height);
        await expect.poll(() => tooltip.innerText()).toContain(name);
        expect(await page.locator("table.buckets tr.hovered th").innerText()).toBe(name);
      }
      told.push(await tooltip.innerText());
    }
    // on some day a call had no price; just after midnight not on the last one
    expect(told.join("\n")).toMatch(/all\s+≥ \$/);
    // a part of a bar is a link to its group's traces, in its bucket
    const part = optionsOf(await page.locator(".segment").first().locator("..").getAttribute("href"));
    expect(part.get("q")).toMatch(/^model:/);
    const rest = optionsOf(await buckets.first().getAttribute("href"));
    expect(rest.get("window")).toBe(windowOf(midnight - 3 * day, midnight - 2 * day));
    // one stop of the tabulator
    expect(await page.locator("[data-bucket][tabindex='0']").count()).toBe(1);
    await page.mouse.move(0, 0);
    await buckets.first().focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => tooltip.innerText()).toContain(names[1]);
    await page.keyboard.press("End");
    await expect.poll(() => tooltip.innerText()).toContain(names[3]);
    // a drag that Escape ends, and one that zooms
    const drag = async (isCancelled: boolean): Promise<void> => {
      const [from, to] = [(await buckets.nth(1).boundingBox())!, (await buckets.nth(2).boundingBox())!];
      await page.mouse.move(from.x + from.width / 2, from.y + 20);
      await page.mouse.down();
      await page.mouse.move(to.x + to.width / 2, to.y + 20, { steps: 4 });
      await page.locator(".dragged").waitFor();
      if (isCancelled) await page.keyboard.press("Escape");
      await page.mouse.up();
    };
    const before = page.url();
    await drag(true);
    await page.locator(".dragged").waitFor({ state: "detached" });
    expect(page.url()).toBe(before);
    await drag(false);
    await expect.poll(() => optionsOf(page.url()).get("window")).toBe(windowOf(midnight - 2 * day, midnight));
    // Enter opens
    await untilIdle(page);
    await buckets.last().focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => optionsOf(page.url()).get("window")).toBe(windowOf(midnight - day, midnight));
    await page.context().close();
  });

  it("keeps old rows, dimmed, below their own header while another grouping is on its way", async () => {
    const page = await test.open(`/${PROJECT}/usage`);
    await untilIdle(page);
    const held = Promise.withResolvers<void>();
    await page.route(/\/usage\/stats/, (route) => held.promise.then(() => route.continue()));
    await page.getByRole("button", { name: "User", exact: true }).click();
    await page.locator(".usage.old").waitFor();
    const first = page.locator(".groups thead th").first();
    expect(await first.innerText()).toBe("model");
    held.resolve();
    await untilIdle(page);
    expect(await first.innerText()).toBe("user");
    await page.context().close();
  });

  it("opens every figure: groups, failures, unpriced models, cards, labels and lowest scores", async () => {
    const page = await test.open(`/${PROJECT}/usage`);
    await untilIdle(page);
    const viewOf = async (place: string) => {
      const href = await page.locator(place).first().getAttribute("href");
      const [path = "", options] = href!.split("?");
      return { view: path.split("/").at(-1), q: new URLSearchParams(options).get("q") ?? "", href: href! };
    };
    expect(await viewOf(".answer .sum a")).toMatchObject({ view: "traces", q: "" });
    expect(await viewOf(".answer .failed")).toMatchObject({ view: "traces", q: "status:failed" });
    expect((await viewOf(".unpriced a")).href).toMatch(/settings.*model=/);
    expect((await viewOf(".groups .swatch >> xpath=..")).q).toMatch(/^model:/);
    expect((await viewOf(".groups td.cost a")).q).toMatch(/^model:/);
    expect((await viewOf(".groups td.errors a")).q).toContain("status:failed");
    await show(page, `/${PROJECT}/overview?q=parcel`);
    // its figures are not of the search
    expect(await viewOf(".figures li:nth-child(1) a")).toMatchObject({ view: "usage", q: "" });
    expect(await viewOf(".figures li:nth-child(3) a")).toMatchObject({
      view: "traces",
      q: "root.status:failed",
    });
    expect(await viewOf(".figures li:nth-child(4) a")).toMatchObject({ view: "usage", q: "" });
    for (const [path, link] of [
      ["label", ".labels a"],
      ["score", ".worst"],
      ["passed", ".worst"],
    ] as const) {
      await show(page, `/${PROJECT}/feedback?path=${path}`);
      await page.locator(link).first().click();
      expect((await allRows(page)).length).toBeGreaterThan(0);
    }
    await page.context().close();
  });

  it("lists as many traces as a figure is made of that is clicked", async () => {
    const [start, end] = [Date.now() - 3 * 86_400_000, Date.now()].map((ms) => new Date(ms).toISOString());
    const window = `window=${start}..${end}`;
    const page = await test.open(`/${PROJECT}/usage?${window}`);
    const countBehind = async (place: string, link: Locator): Promise<number> => {
      await show(page, `/${PROJECT}/${place}`);
      await link.click();
      await page.locator(".traces-view .rows").waitFor();
      await untilIdle(page);
      return Number(await page.locator(".rows").getAttribute("aria-rowcount")) - 1;
    };
    const rowOf = (name: string) => page.locator("tr", { has: page.locator(`bdi:text-is("${name}")`) });
    for (const [by, of] of [
      ["llm", "calls"],
      ["svc_user_id", "calls"],
      ["op_name", "calls"],
      ["svc_user_id", "traces"],
      ["op_name", "traces"],
    ] as const) {
      const group_by = of === "calls" ? [by, "trace_id"] : [by];
      const body = { project_id: PROJECT, start, end, of, group_by, limit: 1000 };
      const { groups } = (await test.post("/usage/stats", body)).json() as {
        readonly groups: readonly {
          readonly key: Readonly<Record<string, string | null>>;
          readonly total: { readonly traces?: number };
        }[];
      };
      const traces = Map.groupBy(groups, ({ key }) => key[by] ?? "(none)");
      // calls without usage of their own may report that of others: they cannot be searched for
      if (by === "llm") traces.delete("(none)");
      expect(traces.size).toBeGreaterThan(0);
      for (const [name, some] of [...traces].slice(0, 5)) {
        const count = of === "calls" ? some.length : some[0]!.total.traces;
        const link = rowOf(name).locator(`td.${of} a`);
        const place = `usage?${window}&group=${by}&of=${of}`;
        expect([name, of, await countBehind(place, link)]).toEqual([name, of, count]);
      }
    }
    await show(page, `/${PROJECT}/usage?${window}`);
    const failed = page.locator(".answer .failed");
    const [shown] = (await failed.innerText()).trim().split(" of ");
    // no trace of the samples has two failed calls
    expect(`✕ ${await countBehind(`usage?${window}`, failed)}`).toBe(shown);
    await show(page, `/${PROJECT}/feedback?path=label&${window}`);
    const [labels, counts] = [page.locator(".labels bdi"), page.locator(".labels td:nth-child(2)")];
    const shares = [await labels.allInnerTexts(), await counts.allInnerTexts()] as const;
    expect(shares[0]).toEqual(["good", "poor"]);
    for (const [at, name] of shares[0].entries()) {
      const listed = await countBehind(`feedback?path=label&${window}`, rowOf(name).locator("a"));
      expect([name, listed]).toEqual([name, Number(shares[1][at])]);
    }
    await page.context().close();
  });

  const storedIn = (page: Page) =>
    page.evaluate(() => ({
      local: JSON.stringify([Object.entries(localStorage), document.cookie]),
      session: Object.values(sessionStorage),
    }));

  it("keeps the key for the session and tabs of this page, not in the address or in storage", async () => {
    const page = await test.open(`/${PROJECT}/traces`);
    await untilIdle(page);
    expect(page.url()).not.toContain(ROOT_KEY);
    const { local, session } = await storedIn(page);
    expect(local).not.toContain(ROOT_KEY);
    expect(session).toEqual([ROOT_KEY]);
    // another tab, as a middle click opens it, is signed in and out with this one
    const second = await page.context().newPage();
    await second.goto(`${test.url}/#/${PROJECT}/usage`);
    await second.locator(".answer .sum").waitFor();
    expect((await storedIn(second)).local).not.toContain(ROOT_KEY);
    await page.getByRole("button", { name: "Signed in as" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    await second.getByLabel("API key").waitFor();
    expect((await storedIn(second)).session).toEqual([]);
    await page.context().close();
  });

  it("keeps the key on this device on request, until sign-out", async () => {
    const page = await test.open(`/${PROJECT}/traces`, { key: null });
    await page.getByLabel("API key").fill(ROOT_KEY);
    await page.getByLabel("Keep on this device").check();
    await page.getByRole("button", { name: "Sign in" }).click();
    await untilIdle(page);
    expect((await storedIn(page)).local).toContain(ROOT_KEY);
    await page.getByRole("button", { name: "Signed in as" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    expect((await storedIn(page)).local).not.toContain(ROOT_KEY);
    await page.context().close();
  });

  it("rejects an invalid key on input, and asks before a link replaces one", async () => {
    const page = await test.open("/", { key: null });
    await page.getByLabel("API key").fill("st_ж");
    await page.getByText("“ж” cannot be part of a key").waitFor();
    expect(await page.getByRole("button", { name: "Sign in" }).isDisabled()).toBe(true);
    await page.getByLabel("API key").fill(ROOT_KEY);
    await page.keyboard.press("Enter");
    await untilIdle(page);
    const other = (
      await test.post("/api-keys", { name: "of a link", scopes: ["read"], projects: [PROJECT] })
    ).json() as { key: string };
    const to = encodeURIComponent(`/${PROJECT}/usage`);
    const follow = () => page.evaluate((hash) => (location.hash = hash), `key=${other.key}&to=${to}`);
    await follow();
    await page.getByText("This link brings another key").waitFor();
    expect(page.url()).not.toContain(other.key);
    await page.getByRole("button", { name: "Keep mine" }).click();
    expect((await storedIn(page)).session).toEqual([ROOT_KEY]);
    await follow();
    await page.getByRole("button", { name: "Use the key of the link" }).click();
    await page.getByRole("button", { name: "Signed in as of a link" }).waitFor();
    await page.context().close();
  });

  it("says that the key of a link cannot be one, with and without another key", async () => {
    const wrong = `key=${encodeURIComponent("st_a b")}&to=${encodeURIComponent(`/${PROJECT}/usage`)}`;
    const page = await test.open("/", { key: null });
    const follow = () => page.evaluate((hash) => (location.hash = hash), wrong);
    await page.getByLabel("API key").waitFor();
    await follow();
    await page.getByText("The key of the link cannot be one. A space cannot be part of a key.").waitFor();
    expect(page.url()).not.toContain("key=");
    await page.getByLabel("API key").fill(ROOT_KEY);
    await page.keyboard.press("Enter");
    await page.locator(".answer .sum").waitFor();
    await follow();
    await page.getByRole("heading", { name: "The key of the link cannot be one" }).waitFor();
    await page.getByText("A space cannot be part of a key.").waitFor();
    await page.getByRole("button", { name: "Keep mine" }).click();
    expect((await storedIn(page)).session).toEqual([ROOT_KEY]);
    await page.context().close();
  });

  it("shows what a price adds, and sums include it once it is set", async () => {
    const page = await test.open(`/${PROJECT}/settings?model=${MODEL}`);
    await page.getByLabel("Input", { exact: true }).fill("2");
    await page.getByLabel("Output", { exact: true }).fill("8");
    await page.locator(".adds strong [title]").waitFor();
    await page.locator('dialog button:text-is("Save")').click();
    await page.getByText("Every model of the last 30 days has a price.").waitFor();
    await show(page, `/${PROJECT}/usage`);
    expect((await cellOf(page.locator(".answer .sum"))).text).not.toContain("≥");
    await page.context().close();
  });

  it("sets a budget, changes and deletes it, and refuses what is none", async () => {
    // the browser logs the refusal of the service
    const page = await test.open(`/${PROJECT}/usage?group=svc_user_id`, { noisy: true });
    await page.locator(".groups tfoot").getByRole("link", { name: "Set a budget" }).click();
    const form = page.locator("dialog");
    const save = form.locator('button:text-is("Save")');
    const isRefused = async (label: string): Promise<void> => {
      await save.click();
      expect(await form.getByLabel(label).evaluate((input: HTMLInputElement) => input.validity.valid)).toBe(
        false,
      );
    };
    await isRefused("USD");
    await form.getByLabel("Tokens").fill("1e3");
    await isRefused("Tokens");
    await form.getByLabel("Tokens").fill("");
    await form.getByLabel("Scope").selectOption("model");
    await form.getByLabel("Requests").fill("1000");
    await form.getByLabel("Alert at").fill("often");
    await isRefused("Alert at");
    await form.getByLabel("Alert at").fill("0, 90");
    await form.getByLabel("Window").selectOption("for ever");
    await save.click();
    await form.locator('[role="alert"]').waitFor();
    await expectAccessible(page, "a budget that is refused");
    await form.getByLabel("Alert at").fill("90 %");
    await save.click();
    const budgets = page.getByRole("region", { name: "Budgets" });
    const own = budgets.locator("li", { hasText: "Each model" });
    await own.waitFor();
    const asked = { project_id: PROJECT, group_by: ["llm"] };
    const stats = (await test.post("/usage/stats", { ...asked, start: "2020-01-01T00:00:00Z" })).json();
    const { requests } = stats.groups.find(({ key }: { key: { llm: string } }) => key.llm === MODEL).total;
    await own
      .locator("div", { hasText: MODEL })
      .getByText(`${1000 - requests} left of 1,000 requests, ${requests} spent`)
      .waitFor();
    await own.getByRole("button", { name: "Edit" }).click();
    expect(await form.getByLabel("Scope").count()).toBe(0);
    await form.getByLabel("Requests").fill("0");
    await form.getByLabel("Time zone").selectOption("Asia/Tokyo");
    await form.getByLabel("Refuse models").uncheck();
    await save.click();
    await own.getByText("0 left of 0 requests").first().waitFor();
    const stored = (await test.post("/budget/query", { project_id: PROJECT })).json().budgets;
    expect(stored).toMatchObject([
      { name: "Demo" },
      {
        scope: "llm",
        match: "*",
        window: null,
        timezone: "Asia/Tokyo",
        alerts: [0.9],
        limit: { usd: null, tokens: null, requests: 0 },
        on_unknown_price: "count_only",
      },
    ]);
    const { key: reading } = (
      await test.post("/api-keys", { name: "budgets", scopes: ["read"], projects: [PROJECT] })
    ).json();
    const reader = await test.open(`/${PROJECT}/settings?budget=new`, { key: reading });
    await reader.getByText("0 left of 0 requests").first().waitFor();
    expect(await reader.locator("dialog, section button").count()).toBe(0);
    await show(reader, `/${PROJECT}/usage?group=svc_user_id`);
    expect(await reader.getByRole("link", { name: "Set a budget" }).count()).toBe(0);
    await reader.context().close();
    await own.getByRole("button", { name: "Delete" }).click();
    await form.locator('button:text-is("Delete")').click();
    await own.waitFor({ state: "detached" });
    await page.context().close();
  });

  it("creates one key, however often one clicks, and a link that signs a colleague in", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const page = await test.open(`/${PROJECT}/settings`, { permissions });
    await page.locator('button:text-is("New key")').click();
    await page.getByLabel("Name").fill("ana");
    await page.locator('dialog button:text-is("Create")').dblclick();
    await page.getByRole("button", { name: "Copy a link that signs in" }).click();
    await page.getByText("copied").waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    await page.keyboard.press("Escape");
    await untilIdle(page);
    await page.reload();
    await page.getByRole("rowheader", { name: /^ana/ }).waitFor();
    expect(await page.getByRole("rowheader", { name: /^ana/ }).count()).toBe(1);
    await page.context().close();
    const colleague = await test.open("/", { key: null });
    await colleague.goto("about:blank");
    await colleague.goto(link);
    await colleague.getByRole("button", { name: "Signed in as ana" }).waitFor();
    expect(colleague.url()).toContain(`#/${PROJECT}/overview`);
    await colleague.context().close();
  });

  it("shares a view by a link with fixed times and a new key that may read", async () => {
    const page = await test.open(`/${PROJECT}/traces?q=op:refund_agent.run user:nobody`);
    await page.getByRole("button", { name: "Clear search" }).click();
    await page.locator(".recovered", { hasText: "recovered" }).first().waitFor();
    expect(await page.locator(".rows .failed [aria-hidden]", { hasText: "✕" }).count()).toBe(1);
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Link with a new read-only key" }).click();
    await page.getByRole("button", { name: "Make the link" }).dblclick();
    const link = await page.getByRole("dialog", { name: "The link" }).locator("pre").innerText();
    const listed = await page.locator(".answer > span").nth(1).innerText();
    await page.context().close();
    const { api_keys } = (
      await test.app.inject({ url: "/api-keys", headers: { authorization: `Bearer ${ROOT_KEY}` } })
    ).json();
    const made = api_keys.filter(({ name }: { name: string }) => name === `Shared view of ${PROJECT}`);
    expect(made).toMatchObject([{ scopes: ["read"], projects: [PROJECT] }]);
    const colleague = await test.open("/", { key: null });
    await colleague.goto("about:blank");
    await colleague.goto(link);
    await colleague.getByRole("button", { name: "Signed in as Shared view" }).waitFor();
    expect(decodeURIComponent(colleague.url())).toMatch(/#\/acme\/demo\/traces\?.*window=20.*\.\.20/);
    await untilIdle(colleague);
    expect(await colleague.locator(".answer > span").nth(1).innerText()).toBe(listed);
    await colleague.context().close();
  });

  it("shows the first call to send where a project is empty, until it is there", async () => {
    const page = await test.open("/acme/empty/traces");
    const sample = page.locator("pre", { hasText: "v2/acme/empty/calls/complete" });
    await sample.waitFor();
    const body = /-d '(.*)'$/.exec(await sample.innerText())![1]!;
    await test.post("/v2/acme/empty/calls/complete", JSON.parse(body) as object);
    await page.locator(".rows").getByRole("link", { name: "chat" }).waitFor();
    await page.context().close();
  });

  it("changes how long a project keeps its data", async () => {
    const page = await test.open("/acme/kept/settings");
    await page.getByText("Calls and feedback are kept for ever.").waitFor();
    await page.getByRole("button", { name: "Change retention" }).click();
    await page.getByLabel("Days").fill("30");
    await page.getByRole("button", { name: "Keep so long" }).click();
    await page.getByText("Calls and feedback are kept for 30 days.").waitFor();
    await page.reload();
    await page.getByText("Calls and feedback are kept for 30 days.").waitFor();
    await page.context().close();
  });

  it("/docs loads nothing from other hosts", async () => {
    const page = await test.open("/", { key: null });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(`${test.url}/docs`);
    await page.locator("#operations-tag-usage").waitFor();
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter((url) => !url.startsWith(test.url) && !url.startsWith("data:"))).toEqual([]);
    await page.context().close();
  });
});
