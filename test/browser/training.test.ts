import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadTraining, TRAINING_PROJECT } from "../../scripts/demo/load-samples.ts";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { ReferenceTraining } from "../helpers/reference-upstream/training.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";
import { expectAccessible } from "./accessible.ts";
import { readTables, show, untilIdle } from "./reading.ts";

const TRAINING = `/${TRAINING_PROJECT}/training`;
const EVENTS = /\/v1\/preview\/training-jobs\/[^/]+\/events\?/;
const service = new ReferenceTraining(0);

let upstream: ReferenceUpstream;
let test: TestPage;

describe.skipIf(chromiumPath === undefined)("training, in Chromium", () => {
  beforeAll(async () => {
    upstream = await startReferenceUpstream({ training: service });
    test = await startPage({ settings: { TRAINING_UPSTREAM_URL: upstream.url } });
    await loadTraining({ url: test.url, key: ROOT_KEY });
    // the view would ask for it every few seconds
    const completed = { project_id: TRAINING_PROJECT, status: "completed" };
    await until(async () => (await test.post("/training/jobs/query", completed)).text.includes("step3"));
  });
  afterAll(async () => {
    await test?.close();
    await upstream?.close();
  });

  it("shows which checkpoint is better and cheaper than the base model, and what it was trained on", async () => {
    const page = await test.open(TRAINING);
    await page.getByText("step 3", { exact: true }).waitFor();
    await untilIdle(page);
    const [jobs, models] = await page.evaluate(readTables);
    expect(jobs!.map(({ name, cells }) => [name, cells[0]!.text])).toEqual([
      [`${TRAINING_PROJECT}/assistant`, "completed"],
    ]);
    const rows = models!.map(({ name, cells }) => [
      name.split(/ (?=Qwen|wandb)/)[0],
      ...cells.map(({ text }) => text),
    ]);
    expect(rows).toEqual([
      ["base model", "20", "20", "40 %", "$0.0365", "$0.00456"],
      ["step 1", "20", "20", "40 %", "$0.00880", "$0.00110"],
      ["step 2", "20", "20", "80 %", "$0.00496", "$0.000310"],
      ["step 3", "20", "20", "60 %", "$0.0168", "$0.00140"],
    ]);
    const data = page.getByRole("region", { name: "Data" });
    expect(await data.innerText()).toContain("Made of 20 calls as trajectories: 20 calls exported");
    const metrics = page.getByRole("region", { name: "Metrics", exact: true });
    expect(await metrics.locator(".lines li").allInnerTexts()).toContain("loss\n0.05\nfrom 1");
    expect(await metrics.locator(".lines path").count()).toBe(7);
    expect(await metrics.innerText()).toContain("Metrics, over 20 gradient steps");
    expect(await metrics.innerText()).toMatch(/num_trainable_tokens\s+4,096/u);
    const events = page.getByRole("region", { name: "Events" });
    expect(await events.innerText()).toMatch(/^22 events, the last 8\s+ended\s+step 20\s+step 19/u);
    await expectAccessible(page, "training");
    await page.setViewportSize({ width: 1280, height: 760 });
    await page.getByLabel("An answer passes if").fill("score < 0.5");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText("60 %").first().waitFor();
    await untilIdle(page);
    const [, others] = await page.evaluate(readTables);
    expect(others!.map(({ cells }) => cells[2]!.text)).toEqual(["60 %", "60 %", "20 %", "40 %"]);
    await page.context().close();
  });

  it("draws what the job reports while it runs, and asks no more once it has ended", async () => {
    const page = await test.open("/acme/other/training");
    await page.clock.install();
    const asked: (string | null)[] = [];
    // as if the service trained more slowly
    await page.route(EVENTS, async (route) => {
      const after = new URL(route.request().url()).searchParams.get("after");
      asked.push(after);
      const response = await route.fetch();
      const body = (await response.json()) as { data: { id: string }[] };
      const data = after === null ? body.data.slice(0, 10) : body.data;
      await route.fulfill({ response, json: { ...body, data, has_more: false } });
    });
    await page.route("**/training/jobs/query", async (route) => {
      const response = await route.fetch();
      const { jobs } = (await response.json()) as { jobs: object[] };
      const json = { jobs: jobs.map((job) => ({ ...job, status: "running", ended_at: null })) };
      await route.fulfill({ response, json: { ...json, next_page_token: null } });
    });
    await show(page, TRAINING);
    const events = page.getByRole("region", { name: "Events" });
    await events.getByText("10 events").waitFor();
    expect(await events.innerText()).toMatch(/step 9\s+step 8/u);
    await page.clock.runFor(4000);
    await events.getByText("22 events").waitFor();
    expect(await events.innerText()).toMatch(/ended seen \d\d:\d\d:\d\d\s/u);
    await page.getByText("over 20 gradient steps").waitFor();
    await page.clock.runFor(20_000);
    await untilIdle(page);
    expect(asked).toEqual([null, expect.any(String)]);
    await page.context().close();
  });

  it("makes a dataset of the traces that are listed", async () => {
    const page = await test.open(`/${TRAINING_PROJECT}/traces`);
    await show(page, `/${TRAINING_PROJECT}/traces?q=${encodeURIComponent('"Where is my parcel"')}`);
    await page.getByRole("button", { name: "Make a dataset of these" }).click();
    await page.getByLabel("Answers that").fill("passed = true");
    await page.getByLabel("Leave out repeated examples").check();
    await expectAccessible(page, "make a dataset");
    await page.setViewportSize({ width: 1280, height: 760 });
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const saved = await download;
    expect(saved.suggestedFilename()).toMatch(/^dataset chat acme-parcels .*\.jsonl$/u);
    const lines = readFileSync(await saved.path(), "utf8")
      .trim()
      .split("\n");
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toEqual({
      messages: [
        { role: "user", content: "Where is my parcel?" },
        { role: "assistant", content: "It is on its way: Where is my parcel?" },
      ],
    });
    const dialog = page.getByRole("dialog", { name: "Dataset" });
    await dialog.getByText("1 example").waitFor();
    expect(await dialog.innerText()).toContain("15 calls left out: duplicate");
    await page.context().close();
  });

  it("shows the last values that were read if it cannot ask, or the service has forgotten the job", async () => {
    const made = await test.post("/api-keys", {
      name: "reader",
      scopes: ["read"],
      projects: [TRAINING_PROJECT],
    });
    const { key } = made.json() as { readonly key: string };
    const reading = await test.open(TRAINING, { key });
    await reading.getByText("need a key with the scope train").waitFor();
    service.forgetJobs();
    const page = await test.open(TRAINING, { noisy: true });
    await page.getByText("does not know this job: the last values that were read are shown").waitFor();
    for (const one of [reading, page]) {
      await untilIdle(one);
      const metrics = one.getByRole("region", { name: "Metrics", exact: true });
      expect(await metrics.innerText()).toMatch(/loss\s+0.05\s+reward\s+0.95/u);
      expect(await one.getByRole("region", { name: "Events" }).count()).toBe(0);
      await one.context().close();
    }
  });

  it("says where to begin without a job", async () => {
    const page = await test.open("/acme/other/training");
    await page.getByText("No training job yet").waitFor();
    await untilIdle(page);
    await expectAccessible(page, "no training job");
    await page.context().close();
  });
});
