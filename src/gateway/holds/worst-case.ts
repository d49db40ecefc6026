import type { WorstCase } from "../../budgets/admission.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import { AppError } from "../../shared/errors.ts";
import { isJsonObject } from "../../shared/json.ts";
import { serviceOf } from "../../usage/read-service.ts";
import type { Json } from "../apis/draft.ts";
import { dearestCost } from "./dearest-cost.ts";
import { mostUsedFor, type Limits, type Metered, type MostUsed } from "./most-used.ts";
import { tiersAsked } from "./tiers-asked.ts";
import { serverWorkOf } from "./tools.ts";

/** In tokens: without a listed window, and of models with a price for longer prompts than the listed one. */
const WINDOW = { unlisted: 128_000, long: 1_000_000 };
/**
 * The most tokens that are billed for an image. Claude: patches of 28 × 28 pixels of at most 2576 × 2576
 * (platform.claude.com/docs/en/build-with-claude/vision). Others: gpt-4o-mini's 2,833, and 5,667 for each of up to eight tiles
 * (developers.openai.com/api/docs/guides/images-vision).
 */
const IMAGE = { claude: 92 * 92, other: 2_833 + 8 * 5_667 };
/** Looking up a price takes up to a millisecond. */
const MAX_MODELS = 16;

/**
 * Bounds a request before it is sent: no less than what is recorded for it, at the dearest price that may apply. Tools of the
 * server that send a whole context to the model several times can use more. Cost: linear in the values of the body. Errors:
 * bad_request if it names too many models.
 */
export function worstCaseOf(asked: Metered, book: PriceBook): WorstCase {
  const { model, body } = asked;
  const work = serverWorkOf(body);
  const mostUsed = mostUsedFor(asked, work);
  const instead = namesIn(body["models"]);
  const besides = [...namesIn(body["fallbacks"]), ...(isCompacted(body) ? [model] : [])];
  if (instead.length + besides.length + work.models.length >= MAX_MODELS)
    throw new AppError("bad_request", `The body names more than ${MAX_MODELS} models.`);
  const answerOf = (llm: string): WorstCase => priced(llm, mostUsed(limitsOf(llm, asked, book)));
  // neither the maximum of a request nor its searches are those of the models of its tools
  const toolOf = (llm: string): WorstCase => {
    const limits = limitsOf(llm, asked, book);
    const most = mostUsed(limits);
    return priced(llm, { ...most, output: Math.max(most.output, limits.output), units: {} });
  };
  const priced = (llm: string, most: MostUsed): WorstCase => {
    const tiers = tiersAsked(asked.modelApi.api, body, book.tiersOf(llm, asked.provider ?? ""));
    const rates = tiers.map((tier) =>
      book.ratesAt(llm, asked.startedAtUs, serviceOf(asked.provider, [tier])),
    );
    return { usd: dearestCost(most, rates), tokens: most.input + most.output };
  };
  const answer = [model, ...instead].map(answerOf).reduce(larger);
  return [answer, ...besides.map(answerOf), ...work.models.map(toolOf)].reduce(sum);
}

/** Models by name, or in objects: at OpenRouter one of `models` answers, of Anthropic's `fallbacks` each may be charged. */
function namesIn(models: unknown): readonly string[] {
  if (!Array.isArray(models)) return [];
  return models
    .map((one: unknown) => (isJsonObject(one) ? one["model"] : one))
    .filter((name) => typeof name === "string");
}

/** True if the server may summarize the context first, which costs as much again. */
function isCompacted({ context_management: management }: Json): boolean {
  return management !== undefined && JSON.stringify(management).includes("compact");
}

function larger(one: WorstCase, other: WorstCase): WorstCase {
  const isUnknown = one.usd === null || other.usd === null;
  const usd = isUnknown ? null : one.usd > other.usd ? one.usd : other.usd;
  return { usd, tokens: Math.max(one.tokens, other.tokens) };
}

function sum(one: WorstCase, other: WorstCase): WorstCase {
  const usd = one.usd === null || other.usd === null ? null : one.usd + other.usd;
  return { usd, tokens: one.tokens + other.tokens };
}

function limitsOf(llm: string, { provider = "", startedAtUs }: Metered, book: PriceBook): Limits {
  const output = book.contextWindowOf(llm, provider) ?? WINDOW.unlisted;
  const rates = book.ratesAt(llm, startedAtUs, serviceOf(provider, []));
  const longest = rates?.tiers.at(-1)?.aboveTokens ?? 0;
  const researches = rates?.base.units?.output_citation_tokens !== undefined;
  const image = /claude/i.test(llm) ? IMAGE.claude : IMAGE.other;
  return { input: longest >= output ? WINDOW.long : output, output, image, researches };
}
