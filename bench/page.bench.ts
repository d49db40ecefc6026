import { existsSync } from "node:fs";
import { chromium, type Page } from "playwright-core";
import { fill as fillBySql, lastHour } from "./scale.bench.ts";
import { spreadOf, type Scenario, type ScenarioResult } from "./scenario.ts";
import { startService, type BenchService } from "./service.ts";
import { tasksDuring } from "./main-thread.ts";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const PROJECT = "acme/large";
const TRACE_CALLS = 100_000;
const TRACES = Number(process.env["PAGE_TRACES"] ?? 5000);
const MANY = "acme/many";
/** The calls of a large project, inserted by SQL; 0: no such project. */
const HUGE = "acme/huge";
const HUGE_CALLS = Number(process.env["PAGE_CALLS"] ?? 0);
const CALLS_PER_TRACE = 20;
const BATCH = 10_000;
/** Adding up a day of a large project takes a while. */
const PATIENCE_MS = 240_000;
const ROUNDS = Number(process.env["PAGE_ROUNDS"] ?? 5);

/** An agent's long run: steps of a hundred calls, a model in each. */
function callOfRun(at: number, beganMs: number): object {
  const step = at - (at % 100);
  const isModel = at % 100 === 21;
  return {
    id: `c${at}`,
    trace_id: "run",
    parent_id: at === 0 ? null : at === step ? "c0" : `c${step}`,
    op_name:
      at === 0 ? "agent" : at === step ? `step-${at / 100}` : isModel ? "openai.chat" : `tool-${at % 7}`,
    ...times(beganMs + at * 10, at === 0 ? TRACE_CALLS * 10 : 500),
    ...message(isModel ? 1000 : undefined),
  };
}

function callOfMany(at: number, beganMs: number): object {
  const trace = Math.floor(at / CALLS_PER_TRACE);
  const place = at % CALLS_PER_TRACE;
  return {
    id: `t${trace}-${place}`,
    trace_id: `t${trace}`,
    parent_id: place === 0 ? null : `t${trace}-${Math.floor((place - 1) / 4)}`,
    op_name: place === 0 ? "support-chat" : `tool-${place}`,
    ...times(beganMs + trace * 20_000 + place * 100, 2000),
    ...message(place % 4 === 3 ? 1200 : undefined),
  };
}

function times(startMs: number, tookMs: number): object {
  return {
    started_at: new Date(startMs).toISOString(),
    ended_at: new Date(startMs + tookMs).toISOString(),
  };
}

function message(prompt: number | undefined): object {
  const usage = { "gpt-4o": { requests: 1, prompt_tokens: prompt, completion_tokens: 40 } };
  return { attributes: {}, inputs: {}, summary: prompt === undefined ? {} : { usage } };
}

async function fill(
  service: BenchService,
  project: string,
  { count, callAt }: { count: number; callAt: (at: number) => object },
): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => callAt(from + at));
    await service.ask(`/v2/${project}/calls/complete`, { batch });
  }
}

/** From the click until the result is in a frame, in milliseconds of the browser. */
function opens(page: Page, hash: string, shows: string): Promise<number> {
  return page.evaluate(`new Promise((done) => {
    const began = performance.now();
    location.hash = ${JSON.stringify(hash)};
    const look = () =>
      document.querySelector(${JSON.stringify(shows)}) === null
        ? requestAnimationFrame(look)
        : requestAnimationFrame(() => done(performance.now() - began));
    requestAnimationFrame(look);
  })`);
}

/** The length of each frame: from end to end in sixty frames, then three rows a frame, or without scrolling. */
function frames(page: Page, { isScrolled }: { readonly isScrolled: boolean }): Promise<readonly number[]> {
  return page.evaluate(`new Promise((done) => {
    const list = ${isScrolled ? 'document.querySelector(".rows")' : "{ scrollHeight: 0, scrollTop: 0 }"};
    const frames = [];
    let before;
    const next = (now) => {
      if (before !== undefined) frames.push(now - before);
      before = now;
      if (frames.length === 60) list.scrollTop = 1000;
      if (frames.length === 180) return done(frames);
      list.scrollTop += frames.length < 60 ? list.scrollHeight / 60 : 90;
      requestAnimationFrame(next);
    };
    list.scrollTop = 0;
    requestAnimationFrame(next);
  })`);
}

/** From the click, in milliseconds: until the tree is there, and until its usage is, too. */
async function opensTree(
  page: Page,
  hash: string,
): Promise<{ readonly tree: number; readonly whole: number }> {
  const whole = opens(page, hash, ".tree .body .row .cost .figure");
  const tree = await opens(page, hash, ".tree .body .row");
  return { tree, whole: await whole };
}

async function measure(service: BenchService, page: Page): Promise<readonly ScenarioResult[]> {
  const samples: Record<string, number[]> = {};
  const newest = {
    project_id: MANY,
    filter: { trace_roots_only: true },
    sort_by: [{ field: "started_at", direction: "desc" }],
    columns: ["id", "op_name"],
    limit: 500,
  };
  const one = { project_id: PROJECT, filter: { trace_ids: ["run"] }, limit: 1_000_000 };
  for (let round = -1; round < ROUNDS; round++) {
    await opens(page, `/${MANY}/usage`, "table.buckets");
    const table = await opens(page, `/${MANY}/traces?window=30d`, ".traces .body .row");
    await untilIdle(page);
    const listing = await timed(() => service.ask("/calls/stream_query", newest));
    const { tree, whole } = await opensTree(page, `/${PROJECT}/trace/run?groups=open`);
    await untilIdle(page);
    const idle = Math.max(...(await frames(page, { isScrolled: false })));
    const frame = Math.max(...(await frames(page, { isScrolled: true })));
    const task = Math.max(...(await tasksDuring(page, () => frames(page, { isScrolled: true }))));
    const answers = await timed(async () => {
      await service.ask("/trace/calls", { project_id: PROJECT, trace_id: "run" });
      await service.ask("/trace/usage", { ...one, include_costs: true });
      await service.ask("/trace/usage", { ...one, include_costs: true, own_only: true });
    });
    if (round < 0) continue;
    for (const [name, value] of Object.entries({ table, listing, tree, whole, answers, frame, idle, task }))
      (samples[name] ??= []).push(value);
  }
  return resultsOf(samples);
}

function resultsOf(samples: Record<string, number[]>): readonly ScenarioResult[] {
  const spread = (name: string) => spreadOf(samples[name]!);
  const atMost = (limitMs: number, name: string) => ({
    text: `≤ ${limitMs} ms`,
    used: spread(name).median / limitMs,
  });
  const answers = { what: "reading its three answers", spread: spread("answers") };
  return [
    {
      what: `first rows of ${TRACES} traces, from the click`,
      subject: spread("table"),
      against: { what: "reading the newest 500", spread: spread("listing") },
      unit: "ms",
      target: atMost(300, "table"),
    },
    {
      what: `a trace of ${TRACE_CALLS} calls, from the click to its tree`,
      subject: spread("tree"),
      against: answers,
      unit: "ms",
      target: atMost(1000, "tree"),
    },
    {
      what: "the same, to what each of its rows used and cost",
      subject: spread("whole"),
      against: answers,
      unit: "ms",
      target: undefined,
    },
    {
      what: "longest of 180 frames while scrolling it",
      subject: spread("frame"),
      against: { what: "idle", spread: spread("idle") },
      unit: "ms",
      target: atMost(50, "frame"),
    },
    {
      what: "longest task of the main thread meanwhile, processor time",
      subject: spread("task"),
      against: undefined,
      unit: "ms",
      target: atMost(50, "task"),
    },
  ];
}

/** From the click to the first rows of the last day, and to their cost. */
async function measureHuge(service: BenchService, page: Page): Promise<readonly ScenarioResult[]> {
  const filled = await fillBySql(service, HUGE, HUGE_CALLS);
  const until = lastHour(filled) + 3_600_000;
  const [from, to] = [until - 86_400_000, until].map((ms) => new Date(ms).toISOString());
  const [rows, costs]: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round++) {
    await opens(page, `/${MANY}/usage`, "table.buckets");
    await untilIdle(page);
    const place = `/${HUGE}/traces?window=${from}..${to}`;
    const cost = opens(page, place, ".traces .body .row .cost .figure");
    const row = await opens(page, place, ".traces .body .row");
    if (round >= 0) {
      rows.push(row);
      costs.push(await cost);
    }
    await untilIdle(page);
  }
  const [subject, costed] = [spreadOf(rows), spreadOf(costs)];
  const what = `first rows of a day of ${filled.calls.toLocaleString("en")} calls, from the click`;
  const target = { text: "≤ 300 ms", used: subject.median / 300 };
  return [{ what, subject, against: { what: "what they cost", spread: costed }, unit: "ms", target }];
}

/** Waits until all questions are answered and rendered. */
async function untilIdle(page: Page): Promise<void> {
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** How long a user of the page waits. Needs Chromium. */
export const scenario: Scenario = {
  name: "page",
  async run() {
    if (!existsSync(CHROMIUM)) return [];
    const service = await startService();
    const beganMs = Date.now() - 4 * 86_400_000;
    await fill(service, PROJECT, { count: TRACE_CALLS, callAt: (at) => callOfRun(at, beganMs) });
    await fill(service, MANY, {
      count: TRACES * CALLS_PER_TRACE,
      callAt: (at) => callOfMany(at, beganMs),
    });
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    const page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`${service.url}/#key=${service.key}&to=${encodeURIComponent(`/${MANY}/usage`)}`);
    await page.locator("table.buckets").waitFor();
    try {
      return [...(await measure(service, page)), ...(HUGE_CALLS > 0 ? await measureHuge(service, page) : [])];
    } finally {
      await browser.close();
      await service.close();
    }
  },
};
