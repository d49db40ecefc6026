import { createServer, request as ask } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { faultyEngine } from "../helpers/faulty-engine.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { refreshIfThere, untilIdle, show } from "./reading.ts";

const PROJECT = "acme/hostile";
const SCRIPT = `<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>`;
const TURNED = "invoice\u202Egpj.exe\u0007";
const MEGABYTE = "x".repeat(1_000_000);

let test: TestPage;
let isAway = false;

const startedAt = new Date(Date.now() - 60_000).toISOString();
const endedAt = new Date(Date.now() - 50_000).toISOString();

function call(id: string, more: object = {}): object {
  return {
    project_id: PROJECT,
    id,
    trace_id: "hostile",
    op_name: "op",
    started_at: startedAt,
    ended_at: endedAt,
    attributes: {},
    inputs: {},
    summary: {},
    ...more,
  };
}

const HOSTILE = [
  call("root", {
    op_name: SCRIPT,
    inputs: { text: SCRIPT },
    wb_user_id: SCRIPT,
    thread_id: TURNED,
    parent_id: null,
  }),
  call("turned", { parent_id: "root", op_name: TURNED, exception: `${SCRIPT}${TURNED}` }),
  call("long", {
    parent_id: "root",
    op_name: MEGABYTE.slice(0, 5000),
    output: MEGABYTE,
    exception: MEGABYTE,
  }),
  call("__proto__", {
    parent_id: "root",
    op_name: "constructor",
    summary: { usage: { [SCRIPT]: { prompt_tokens: 7 }, toString: { prompt_tokens: 5 } } },
  }),
  call("long-root", {
    trace_id: SCRIPT,
    op_name: "y".repeat(10_000),
    inputs: { text: TURNED },
    parent_id: null,
  }),
  call("deep", {
    parent_id: "constructor",
    inputs: JSON.parse(`${'{"a":'.repeat(200)}1${"}".repeat(200)}`) as object,
  }),
];

/** All but one, which is a trace of its own. */
const OF_TRACE = HOSTILE.length - 1;

describe.skipIf(chromiumPath === undefined)("the web UI in Chromium, during failures", () => {
  beforeAll(async () => {
    test = await startPage({
      wrapEngine: (engine) => faultyEngine(engine, () => (isAway ? "refused" : "done")),
    });
    const response = await test.post(`/v2/${PROJECT}/calls/complete`, { batch: HOSTILE });
    expect(response.json().rejected ?? []).toEqual([]);
    const feedback = {
      project_id: PROJECT,
      weave_ref: `weave:///${PROJECT}/call/root`,
      feedback_type: SCRIPT,
    };
    await test.post("/feedback/create", { ...feedback, payload: { [SCRIPT]: SCRIPT, score: 1 } });
  });
  afterAll(() => test.close());

  it("shows hostile names and payloads as text, in every view", async () => {
    const page = await test.open(`/${PROJECT}/traces`);
    await page.getByText(SCRIPT).first().waitFor();
    for (const id of ["root", "turned", "long", "__proto__", "deep"]) {
      for (const tab of ["data", "cost", "feedback"]) {
        await show(page, `/${PROJECT}/trace/hostile?call=${id}&tab=${tab}`);
        await page.locator(`#tab-${tab}[aria-selected=true]`).waitFor();
      }
    }
    await show(page, `/${PROJECT}/trace/hostile?call=turned&tab=data`);
    await page.locator(".exception", { hasText: "invoice⟨U+202E⟩gpj.exe⟨U+0007⟩" }).waitFor();
    await page.locator(".tree", { hasText: "invoice⟨U+202E⟩gpj.exe⟨U+0007⟩" }).waitFor();
    await show(page, `/${PROJECT}/trace/hostile?call=root&tab=feedback`);
    await page.locator(".details td", { hasText: SCRIPT }).first().waitFor();
    await show(page, `/${PROJECT}/feedback`);
    await page.locator(".card", { hasText: "score" }).waitFor();
    expect(
      await page.evaluate(() => [
        (globalThis as { ran?: number }).ran,
        document.querySelectorAll("img, #page script").length,
      ]),
    ).toEqual([undefined, 0]);
    await page.context().close();
  });

  it("shows hostile names as text in facets, completion and rows, and asks nobody else", async () => {
    const page = await test.open(`/${PROJECT}/traces?fields=inputs.text`);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.setViewportSize({ width: 1280, height: 760 });
    for (const name of ["Operation of the root", "User", "Model of any call", "inputs.text"]) {
      const facet = page.getByRole("region", { name, exact: true });
      await facet.locator("bdi", { hasText: SCRIPT }).first().waitFor();
    }
    for (const field of ["root.op", "user", "model", "thread"]) {
      await page.getByLabel("Search traces").fill(`${field}:`);
      await page.getByRole("option", { name: field === "thread" ? "⟨U+202E⟩" : "<img" }).waitFor();
    }
    await page.getByRole("option", { name: "⟨U+202E⟩" }).click();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.locator(".chip", { hasText: "invoice⟨U+202E⟩gpj.exe⟨U+0007⟩" }).waitFor();
    await page.locator(".traces .body .row", { hasText: SCRIPT }).waitFor();
    expect(await page.evaluate(() => (globalThis as { ran?: number }).ran)).toBeUndefined();
    expect(await page.locator("img").count()).toBe(0);
    const home = new URL(page.url()).origin;
    expect(asked.filter((url) => new URL(url).origin !== home)).toEqual([]);
    await page.context().close();
  });

  it("shows images of the payload from blobs, and asks nobody for others", async () => {
    const data =
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    const elsewhere = `https://pictures.example/${TURNED}.png`;
    const content = [data, elsewhere].map((url) => ({ type: "image_url", image_url: { url } }));
    const messages = [{ role: "user", content }];
    await test.post("/v2/acme/pictures/calls/complete", {
      batch: [call("seen", { project_id: "acme/pictures", trace_id: "seen", inputs: { messages } })],
    });
    const page = await test.open("/acme/pictures/overview");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await show(page, "/acme/pictures/trace/seen");
    await page.getByText("An image that lies elsewhere").waitFor();
    const images = page.locator("img");
    await expect.poll(() => images.evaluateAll(([one]) => (one as HTMLImageElement).naturalWidth)).toBe(1);
    expect(await images.evaluateAll((all) => all.map((one) => one.getAttribute("src")!))).toEqual([
      expect.stringMatching(/^blob:/),
    ]);
    const home = new URL(page.url()).origin;
    expect(asked.filter((url) => !url.startsWith(`blob:${home}/`) && new URL(url).origin !== home)).toEqual(
      [],
    );
    await page.context().close();
  });

  it("reports that the store is unavailable, and shows the numbers once it is back", async () => {
    isAway = true;
    const page = await test.open(`/${PROJECT}/trace/hostile`, { noisy: true });
    try {
      await page.getByText("503: Store unreachable.").waitFor();
      expect(await page.locator(".row").count()).toBe(0);
    } finally {
      isAway = false;
    }
    await page.getByRole("button", { name: "Retry" }).click();
    await page.locator(".tree .body .row").first().waitFor();
    await page.context().close();
  });

  it("keeps its content while the service is unavailable, shows since when, and recovers by itself", async () => {
    const page = await test.open(`/${PROJECT}/traces`, { noisy: true });
    await page.locator(".answer .sum").waitFor();
    await untilIdle(page);
    await page.route(/\/(traces|usage)\//, (route) => route.abort());
    await refreshIfThere(page);
    await page.getByText(/Not updated since \d\d:\d\d/).waitFor();
    expect(await page.locator(".traces .body .row").count()).toBeGreaterThan(0);
    await page.unroute(/\/(traces|usage)\//);
    await page.getByText("Not updated since").waitFor({ state: "detached" });
    // another project is never shown with what this one has
    await page.route("**/traces/query", async () => {});
    await page.evaluate((hash) => (location.hash = hash), "/acme/other/traces");
    await page.getByText("Nothing has been sent yet").waitFor();
    expect(await page.locator(".traces .body .row").count()).toBe(0);
    await page.context().close();
  });

  it("asks for another key if this one is revoked, and returns to the same view", async () => {
    const made = (
      await test.post("/api-keys", { name: "ana", scopes: ["read"], projects: [PROJECT] })
    ).json();
    const page = await test.open(`/${PROJECT}/traces`, { key: made.key, noisy: true });
    await page.getByText(SCRIPT).first().waitFor();
    await test.app.inject({
      method: "DELETE",
      url: `/api-keys/${made.id}`,
      headers: { authorization: `Bearer ${ROOT_KEY}` },
    });
    await expect
      .poll(async () => (await test.post("/trace/usage", { project_id: PROJECT }, { key: made.key })).status)
      .toBe(401);
    await refreshIfThere(page);
    await page.getByText("This key is not valid, or no longer.").waitFor();
    await page.getByLabel("API key").fill(ROOT_KEY);
    await page.keyboard.press("Enter");
    await page.getByText(SCRIPT).first().waitFor();
    expect(page.url()).toContain(`${PROJECT}/traces`);
    await page.context().close();
  });

  it.each([
    { cutPath: "/trace/calls", rows: 0, costs: 0 },
    { cutPath: "/trace/usage", rows: OF_TRACE, costs: OF_TRACE },
  ])("shows nothing of a truncated response of $cutPath", async ({ cutPath, rows, costs }) => {
    const cut = await cutting(test.url, cutPath);
    const context = await test.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${cut.url}/#key=${ROOT_KEY}&to=${encodeURIComponent(`/${PROJECT}/trace/hostile`)}`);
    await page.getByText("Response interrupted").waitFor();
    expect(await page.locator(".body .row").count()).toBe(rows);
    expect(await page.locator(".body .row .cost .unknown").count()).toBe(costs);
    cut.mend();
    await page.getByRole("button", { name: /Retry/ }).click();
    await page.locator(".tree .body .row .cost .figure").first().waitFor();
    await page.locator(".body .row .cost .unknown[title*=read]").first().waitFor({ state: "detached" });
    await context.close();
    await cut.close();
  });

  it("starts its own worker and no other script, under a strict Trusted Types policy", async () => {
    const page = await test.open(`/${PROJECT}/trace/hostile`, { noisy: true });
    await untilIdle(page);
    const rejected = await page.evaluate(() => {
      const { trustedTypes } = globalThis as unknown as {
        trustedTypes: { createPolicy(name: string, rules: object): unknown };
      };
      const tries = [
        () => new Worker("/assets/x.js"),
        () => new Worker(URL.createObjectURL(new Blob(["1"]))),
        () => trustedTypes.createPolicy("other", {}),
        () => trustedTypes.createPolicy("trace-worker", { createScriptURL: (url: string) => url }),
      ];
      return tries.map((attempt) => {
        try {
          attempt();
          return "done";
        } catch (error) {
          return (error as Error).name;
        }
      });
    });
    expect(rejected).toEqual(["TypeError", "TypeError", "TypeError", "TypeError"]);
    await page.context().close();
  });
});

/** A proxy that cuts the answers of one path in the middle until it is mended. */
async function cutting(target: string, cutPath: string) {
  let broken = true;
  const server = createServer((incoming, outgoing) => {
    const { pathname } = new URL(incoming.url ?? "/", target);
    const headers = { ...incoming.headers, "accept-encoding": "identity" };
    const upstream = ask(
      new URL(incoming.url ?? "/", target),
      { method: incoming.method, headers },
      (response) => {
        if (!broken || pathname !== cutPath) {
          outgoing.writeHead(response.statusCode!, response.headers);
          response.pipe(outgoing);
          return;
        }
        const { "content-length": _length, ...rest } = response.headers;
        outgoing.writeHead(response.statusCode!, { ...rest, "transfer-encoding": "chunked" });
        response.once("data", (piece: Buffer) => {
          outgoing.write(piece.subarray(0, piece.length / 2), () => outgoing.destroy());
        });
        response.resume();
      },
    );
    incoming.pipe(upstream);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mend: () => {
      broken = false;
    },
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
