import { waitForUpdate } from "@pydantic/genai-prices";
import { describe, expect, it } from "vitest";
import type { CallCost } from "../../../../src/prices/cost-fields.ts";
import { attodollarsOf } from "../../../../src/prices/money.ts";
import { serviceOf, tierNamed } from "../../../../src/usage/read-service.ts";
import { unitsOf, unitNames, type Unit } from "../../../../src/usage/units.ts";
import { runs } from "../../../helpers/runs.ts";
import { seededRandom } from "../../../helpers/seeded-random.ts";
import { usageOf } from "../../prices/usage.ts";
import { book, heldFor, startedAtUs } from "./asked.ts";

const providers = await waitForUpdate();
const models = (providers ?? []).flatMap(({ id: provider, models: listed }) =>
  listed.map(({ id }) => ({
    provider,
    model: id,
    window: book.contextWindowOf(id, provider) ?? 128_000,
  })),
);
const random = seededRandom();
const upTo = (most: number): number => Math.floor(random.next() * (most + 1));
/** Often the most. */
const fitting = (most: number): number => (random.next() < 0.4 ? most : upTo(most));
const oneOf = <Item>(items: readonly Item[]): Item => items[upTo(items.length - 1)]!;
const isDrawn = (): boolean => random.next() < 0.3;

interface Drawn {
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** The most that an honest provider counts. */
  readonly input: number;
  readonly output: number;
  readonly searches: number;
  readonly hasImages: boolean;
  readonly hasAudio: boolean;
}

const alphabets = ["a", "ab ", "é", "日本", "🙂", '"\\\n', "\u0001"];
function drawText(): string {
  const length = oneOf([0, 1, 20, 300, 5_000, isDrawn() ? 300_000 : 40]);
  return oneOf(alphabets).repeat(upTo(length));
}

function drawRequest(model: string, window: number): Drawn {
  const path = oneOf(["/chat/completions", "/responses", "/messages", "generateContent", "/embeddings"]);
  const texts = Array.from({ length: 1 + upTo(3) }, drawText);
  const textTokens = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const images = isDrawn() && path !== "/embeddings" ? 1 + upTo(2) : 0;
  const audioBytes = isDrawn() && /chat|generate/.test(path) ? 3 * (1_000 + upTo(50_000)) : 0;
  const searches = isDrawn() && /responses|messages/.test(path) ? 1 + upTo(4) : 0;
  const maximum = isDrawn() ? undefined : 1 + upTo(oneOf([10, 5_000, 100_000]));
  const choices = isDrawn() && /chat|generate/.test(path) ? 1 + upTo(4) : 1;
  const data = "A".repeat((audioBytes / 3) * 4);
  const bodies: Readonly<Record<string, object>> = {
    "/chat/completions": {
      messages: [
        ...texts.map((content) => ({ role: "user", content })),
        {
          role: "user",
          content: [
            ...Array.from({ length: images }, () => ({
              type: "image_url",
              image_url: { url: "https://x.test" },
            })),
            ...(audioBytes > 0 ? [{ type: "input_audio", input_audio: { data, format: "mp3" } }] : []),
          ],
        },
      ],
      [oneOf(["max_tokens", "max_completion_tokens"])]: maximum,
      n: choices,
    },
    "/responses": {
      input: [
        ...texts.map((content) => ({ role: "user", content })),
        {
          role: "user",
          content: Array.from({ length: images }, () => ({ type: "input_image", image_url: "data:" })),
        },
      ],
      max_output_tokens: maximum,
      ...(searches > 0 && { tools: [{ type: "web_search" }], max_tool_calls: searches }),
    },
    "/messages": {
      system: texts.map((text) => ({ type: "text", text, cache_control: { type: "ephemeral", ttl: "1h" } })),
      messages: [
        {
          role: "user",
          content: Array.from({ length: images }, () => ({
            type: "image",
            source: { type: "base64", media_type: "image/png", data: "AAAA" },
          })),
        },
      ],
      max_tokens: maximum,
      ...(searches > 0 && { tools: [{ type: "web_search_20250305", name: "w", max_uses: searches }] }),
    },
    generateContent: {
      systemInstruction: { parts: texts.map((text) => ({ text })) },
      contents: [
        {
          parts: [
            ...Array.from({ length: images }, () => ({
              inlineData: { mimeType: "image/png", data: "AAAA" },
            })),
            ...(audioBytes > 0 ? [{ inlineData: { mimeType: "audio/mp3", data } }] : []),
          ],
        },
      ],
      generationConfig: { maxOutputTokens: maximum, candidateCount: choices },
    },
    "/embeddings": { input: texts },
  };
  const isHeld = searches > 0;
  const counted =
    textTokens + images * (/claude/i.test(model) ? 4_784 : 25_501) + Math.floor(audioBytes / 1_000) * 32;
  return {
    path,
    body: JSON.parse(JSON.stringify(bodies[path])) as Record<string, unknown>,
    input: isHeld ? Math.max(counted, window) : counted,
    output: path === "/embeddings" ? 0 : (maximum ?? window) * choices,
    searches,
    hasImages: images > 0 || isHeld,
    hasAudio: audioBytes > 0 || isHeld,
  };
}

/** Usage within a request, with any split into kinds. */
function drawUsage({ input, output, searches, hasImages, hasAudio }: Drawn) {
  const promptTokens = fitting(input);
  const cacheReadTokens = isDrawn() ? upTo(promptTokens) : 0;
  const cacheCreationTokens = fitting(promptTokens - cacheReadTokens);
  const uncached = promptTokens - cacheReadTokens - cacheCreationTokens;
  const completionTokens = fitting(output);
  const counts: Partial<Record<Unit, number>> = {
    cache_write_1h_tokens: fitting(cacheCreationTokens),
    [oneOf(["output_audio_tokens", "output_image_tokens", "output_reasoning_tokens"] as const)]:
      upTo(completionTokens),
    web_searches: upTo(searches),
  };
  const kind = oneOf([...(hasImages ? (["image"] as const) : []), ...(hasAudio ? (["audio"] as const) : [])]);
  if (kind !== undefined) {
    const cached = upTo(cacheReadTokens);
    counts[`cache_${kind}_read_tokens`] = cached;
    counts[`input_${kind}_tokens`] = cached + upTo(uncached);
  }
  return usageOf({
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    cacheReadTokens,
    cacheCreationTokens,
    units: unitsOf(unitNames, (unit) => counts[unit] ?? 0),
  });
}

function drawTiers(path: string, known: readonly string[]) {
  if (path === "/messages") {
    const [speed, geo] = [oneOf([undefined, "fast"]), oneOf([undefined, "global", "us"])];
    const fast = speed === "fast" && known.includes("fast") ? oneOf(["", "fast"]) : "";
    const region = geo !== "global" && known.includes("us_only") ? oneOf(["", "us_only"]) : "";
    return { asked: { speed, inference_geo: geo }, served: [fast, region] };
  }
  const name = oneOf([undefined, "auto", "default", ...known]);
  const isOpen = name === undefined || name === "auto";
  return {
    asked: { service_tier: name },
    served: [isOpen ? oneOf(["", ...known]) : oneOf(["", tierNamed(name)])],
  };
}

const costsOf = (cost: CallCost): readonly (number | null)[] => Object.values(cost);

describe("worstCaseOf", () => {
  it("is never less than any usage that fits the request, of any listed model", () => {
    let priced = 0;
    const tries = runs(1_000, 20_000);
    for (let run = 0; run < tries; run++) {
      const { model, provider, window } = oneOf(models);
      const drawn = drawRequest(model, window);
      const { asked, served } = drawTiers(drawn.path, book.tiersOf(model, provider));
      const body = { model, ...drawn.body, ...asked };
      const held = heldFor(drawn.path, body, { model, provider });
      const usage = { ...drawUsage(drawn), service: serviceOf(provider, served) };
      const costs = costsOf(book.cost(model, startedAtUs, usage));
      const cost = costs.reduce((sum, part) => sum + attodollarsOf(part ?? 0), 0n);
      const about = JSON.stringify({
        run,
        seed: random.seed,
        provider,
        path: drawn.path,
        model,
        asked,
        usage,
      });
      expect(held.tokens, about).toBeGreaterThanOrEqual(usage.totalTokens);
      if (held.usd !== null) expect(held.usd >= cost, `${about}: ${held.usd} < ${cost}`).toBe(true);
      if (held.usd !== null) priced++;
    }
    expect(priced).toBeGreaterThan(tries / 2);
  });

  it("is unknown only where a price is", () => {
    for (const { model, provider } of models) {
      const held = heldFor(
        "/chat/completions",
        { model, messages: [], service_tier: "default" },
        { model, provider },
      );
      const usage = usageOf({ promptTokens: 9, completionTokens: 9 });
      const costs = costsOf(book.cost(model, startedAtUs, { ...usage, service: serviceOf(provider, []) }));
      expect(held.usd === null, `${provider} ${model}`).toBe(costs.includes(null));
    }
  });
});
