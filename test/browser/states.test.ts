import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSamples, PROJECT } from "../../scripts/demo/load-samples.ts";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { faultyEngine } from "../helpers/faulty-engine.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { expectAccessible } from "./accessible.ts";
import { refreshIfThere, show } from "./reading.ts";

const TRACE = `/${PROJECT}/trace/contract-1`;
const EVERYTHING = "/(calls|traces?|usage|feedback)/";
/** Each with what is asked for it. */
const views = {
  traces: { place: `/${PROJECT}/traces`, asks: EVERYTHING },
  "a trace": { place: TRACE, asks: EVERYTHING },
  details: { place: `${TRACE}?call=contract-1-classify&tab=data`, asks: "/calls/stream_query" },
  "a receipt": { place: `${TRACE}?call=contract-1-classify&tab=cost`, asks: "/call/receipt" },
  usage: { place: `/${PROJECT}/usage`, asks: EVERYTHING },
  feedback: { place: `/${PROJECT}/feedback?path=score`, asks: EVERYTHING },
  overview: { place: `/${PROJECT}/overview`, asks: EVERYTHING },
  settings: { place: `/${PROJECT}/settings`, asks: "/(budget|cost)/" },
};

let test: TestPage;
/** One tab for all states but those of keys. */
let page: Page;
/** Whether the store refuses statements. */
let isAway = false;

interface State {
  readonly name: string;
  readonly place: string;
  /** Text that is shown in this state. */
  readonly says: string;
  /** Replaces the responses to requests. */
  readonly fate?: { readonly path: string; readonly of: (route: Route) => Promise<void> };
  readonly isAway?: boolean;
}

/** Never answered. */
const never = async (): Promise<void> => {};

/** The first half of the response. */
async function cut(route: Route): Promise<void> {
  const response = await route.fetch();
  const body = await response.text();
  await route.fulfill({ response, body: body.slice(0, Math.floor(body.length / 2)) });
}

/** With open requests. */
async function withHolds(route: Route): Promise<void> {
  const response = await route.fetch();
  const { budgets } = (await response.json()) as { budgets: readonly object[] };
  const held = { usd: 0.5, tokens: 1000, requests: 1 };
  await route.fulfill({ response, json: { budgets: budgets.map((one) => ({ ...one, held })) } });
}

function inEveryView(name: string, of: (route: Route) => Promise<void>, says: string): readonly State[] {
  return Object.entries(views).map(([view, { place, asks }]) => ({
    name: `${view}, ${name}`,
    place,
    says,
    fate: { path: asks, of },
  }));
}

const FAULTY = encodeURIComponent(JSON.stringify({ $nonsense: [1] }));

const EMPTY = "window=2020-01-01T00:00:00Z..2020-01-02T00:00:00Z";
const states: readonly State[] = [
  ...inEveryView("loading", never, "Loading…"),
  ...inEveryView("cut short", cut, "Response interrupted"),
  ...inEveryView("without the service", (route) => route.abort(), "Service unreachable."),
  ...Object.entries(views).map(([view, { place }]) => ({
    name: `${view}, without the store`,
    place,
    says: "Store unreachable.",
    isAway: true,
  })),
  {
    name: "a trace, its usage on the way",
    place: TRACE,
    says: "…",
    fate: { path: "/trace/usage", of: never },
  },
  {
    name: "a trace, its usage cut short",
    place: TRACE,
    says: "Response interrupted",
    fate: { path: "/trace/usage", of: cut },
  },
  { name: "traces, empty", place: `/${PROJECT}/traces?${EMPTY}`, says: "No trace began in this window." },
  { name: "usage, empty", place: `/${PROJECT}/usage?${EMPTY}`, says: "No call began in this window." },
  { name: "a project without data", place: "/acme/empty/usage", says: "Nothing has been sent yet" },
  {
    name: "feedback, empty",
    place: "/acme/empty/feedback",
    says: "There is no feedback in this window.",
  },
  { name: "a trace that is not there", place: "/acme/empty/trace/none", says: "There is no such trace" },
  {
    name: "traces, a filter that leaves nothing",
    place: `/${PROJECT}/traces?q=latency%3E999h`,
    says: "No trace of this window matches.",
  },
  {
    name: "traces, a search with faults",
    place: `/${PROJECT}/traces?q=${encodeURIComponent("usr:ana latency>fast")}`,
    says: "Did you mean user?",
  },
  {
    name: "settings, a budget that open requests hold",
    place: `/${PROJECT}/settings`,
    says: "held by open requests",
    fate: { path: "/budget/query", of: withHolds },
  },
  { name: "a range that is none", place: `/${PROJECT}/usage?window=8d`, says: "“8d” is no range" },
  { name: "a zone that is none", place: `/${PROJECT}/usage?zone=CET`, says: "“CET” is no zone" },
  { name: "traces, a query with faults", place: `/${PROJECT}/traces?q=${FAULTY}`, says: "422:" },
];

describe.skipIf(chromiumPath === undefined)(
  "axe finds nothing, in light and dark, wide and on a phone, in",
  () => {
    beforeAll(async () => {
      test = await startPage({
        wrapEngine: (engine) => faultyEngine(engine, () => (isAway ? "refused" : "done")),
      });
      await loadSamples({ url: test.url, key: ROOT_KEY });
      const limit = { usd: 2, tokens: 1_000_000 };
      await test.post("/budget/create", { project_id: PROJECT, scope: "project", limit });
      page = await test.open("/acme/nothing/feedback", { noisy: true });
    });
    afterAll(() => test.close());

    it.each(states)("$name", async ({ name, place, says, fate, isAway: away = false }) => {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await show(page, "/acme/nothing/feedback");
      // forgets the answers of the states before
      await page.reload();
      // before that, "Loading…" is said of the key
      await page.getByRole("navigation").waitFor();
      if (fate !== undefined) await page.route(new RegExp(fate.path), fate.of);
      isAway = away;
      try {
        await page.evaluate((hash) => (location.hash = hash), place);
        await page.getByText(says).first().waitFor();
      } finally {
        isAway = false;
      }
      await expectAccessible(page, name);
    });

    it("a key that is not valid any more", async () => {
      const key = await keyOf({ scopes: ["read"], projects: [PROJECT] });
      const page = await test.open(views.traces.place, { key: key.key, noisy: true });
      await page.locator(".traces .body .row").first().waitFor();
      await revoke(key);
      await refreshIfThere(page);
      await page.getByText("This key is not valid, or no longer.").waitFor();
      await expectAccessible(page, "a revoked key");
      await page.context().close();
    });

    it.each([
      {
        name: "a key that may not read",
        scopes: ["ingest"],
        projects: ["*"],
        place: "/",
        says: "may not read",
      },
      {
        name: "a key of another project",
        scopes: ["read"],
        projects: ["acme/other"],
        place: views.traces.place,
        says: "403:",
      },
    ])("$name", async ({ name, scopes, projects, place, says }) => {
      const { key } = await keyOf({ scopes, projects });
      const page = await test.open(place, { key, noisy: true });
      await page.getByText(says).first().waitFor();
      await expectAccessible(page, name);
      await page.context().close();
    });
  },
);

interface Key {
  readonly id: string;
  readonly key: string;
}

async function keyOf(more: object): Promise<Key> {
  return (await test.post("/api-keys", { name: "ana", ...more })).json() as Key;
}

async function revoke({ id, key }: Key): Promise<void> {
  const headers = { authorization: `Bearer ${ROOT_KEY}` };
  await test.app.inject({ method: "DELETE", url: `/api-keys/${id}`, headers });
  await expect
    .poll(async () => (await test.post("/trace/usage", { project_id: PROJECT }, { key })).status)
    .toBe(401);
}
