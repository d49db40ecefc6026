import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadTraining, TRAINING_PROJECT } from "../../scripts/demo/load-samples.ts";
import { chromiumPath, startPage, type TestPage } from "../helpers/browser.ts";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { expectAccessible } from "./accessible.ts";
import { readTables, show, untilIdle } from "./reading.ts";

let upstream: ReferenceUpstream;
let test: TestPage;

describe.skipIf(chromiumPath === undefined)("training, in Chromium", () => {
  beforeAll(async () => {
    upstream = await startReferenceUpstream();
    test = await startPage({ settings: { TRAINING_UPSTREAM_URL: upstream.url } });
    await loadTraining({ url: test.url, key: ROOT_KEY });
  });
  afterAll(async () => {
    await test?.close();
    await upstream?.close();
  });

  it("shows which checkpoint is better and cheaper than the base model, and what it was trained on", async () => {
    const page = await test.open(`/${TRAINING_PROJECT}/training`);
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

  it("says where to begin without a job", async () => {
    const page = await test.open("/acme/other/training");
    await page.getByText("No training job yet").waitFor();
    await untilIdle(page);
    await expectAccessible(page, "no training job");
    await page.context().close();
  });
});
