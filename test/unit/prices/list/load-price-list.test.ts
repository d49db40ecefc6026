import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitForUpdate } from "@pydantic/genai-prices";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtInListVersion, loadPriceList } from "../../../../src/prices/list/load-price-list.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sumtree-prices-"));
});
afterAll(() => rm(folder, { recursive: true }));

const fileOf = async (content: unknown): Promise<string> => {
  const path = join(folder, "prices.json");
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};
const promptPrice = async (path: string, llmId: string, at = "2026-11-01T12:00:00Z") => {
  const entry = (await loadPriceList(path)).find(llmId);
  const price = entry?.schedule(Date.parse(at) * 1000).rates?.base.prompt;
  return price === undefined || price === null ? undefined : price / 1_000_000;
};
const provider = (id: string, models: readonly object[], more: object = {}) => ({
  id,
  name: id,
  api_pattern: "https://example",
  models,
  ...more,
});
const model = (id: string, prices: unknown) => ({ id, match: { equals: id }, prices });

describe("the built-in price list", () => {
  it("is named by the installed version", async () => {
    const { dependencies } = JSON.parse(await readFile("package.json", "utf8")) as {
      dependencies: Record<string, string>;
    };
    expect(builtInListVersion).toBe(dependencies["@pydantic/genai-prices"]);
    expect((await loadPriceList()).name).toBe(`genai-prices ${builtInListVersion}`);
  });
});

describe("PRICES_FILE", () => {
  it("replaces the built-in list and is named with its digest", async () => {
    const path = await fileOf([
      provider("openai", [model("gpt-4o", { input_mtok: 99, output_mtok: 1 })], {
        model_match: { or: [{ starts_with: "gpt-" }, { contains: "text-embedding" }] },
        fallback_model_providers: ["azure"],
      }),
      provider("azure", [model("gpt-own", { input_mtok: { base: 7, tiers: [{ start: 1000, price: 8 }] } })]),
    ]);
    expect((await loadPriceList(path)).name).toMatch(/^prices\.json \(sha256 [\da-f]{12}\)$/);
    expect(await promptPrice(path, "gpt-4o")).toBe(99);
    expect(await promptPrice(path, "openai/gpt-4o-2024-08-06")).toBe(99);
    expect(await promptPrice(path, "gpt-own")).toBe(7);
    expect(await promptPrice(path, "claude-sonnet-4-5")).toBeUndefined();
  });

  it("behaves as the built-in list if it is a copy of it", async () => {
    const path = await fileOf(await waitForUpdate());
    const [file, builtIn] = [await loadPriceList(path), await loadPriceList()];
    for (const id of [
      "gpt-4o",
      "us.anthropic.claude-opus-4-5-v1:0",
      "groq/llama-3.3-70b-versatile",
      "sonar-pro",
    ]) {
      const at = Date.parse("2026-11-01T12:00:00Z") * 1000;
      expect(file.find(id)?.schedule(at).rates, id).toEqual(builtIn.find(id)!.schedule(at).rates);
    }
  });

  it("keeps a correction until the file changes the model", async () => {
    const asReleased = (await waitForUpdate())!;
    const at = "2026-03-01T12:00:00Z";
    expect(await promptPrice(await fileOf(asReleased), "deepseek-chat", at)).toBe(0.28);
    const newer = asReleased.map((one) =>
      one.id === "deepseek"
        ? provider("deepseek", [model("deepseek-chat", { input_mtok: 0.3, output_mtok: 0.4 })], {
            model_match: { contains: "deepseek" },
          })
        : one,
    );
    expect(await promptPrice(await fileOf(newer), "deepseek-chat", at)).toBe(0.3);
  });

  it.each([
    ["{", "is not JSON"],
    ["{}", "is not a list of genai-prices"],
    [[], "is not a list of genai-prices"],
    [[{ id: "openai" }], "0.models"],
    [[provider("openai", [model("m", { input_mtok: -1 })])], "0.models.0.prices"],
    [[provider("openai", [model("m", { input_mtok: "1" })])], "0.models.0.prices"],
  ])("rejects %j with the reason", async (content, why) => {
    await expect(loadPriceList(await fileOf(content))).rejects.toThrow(why);
    await expect(loadPriceList(await fileOf(content))).rejects.toThrow(/^PRICES_FILE: /);
  });

  it("reports a missing file", async () => {
    await expect(loadPriceList(join(folder, "none.json"))).rejects.toThrow("cannot be read (ENOENT)");
  });
});
