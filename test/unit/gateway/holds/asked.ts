import { GEMINI_APIS, MODEL_APIS } from "../../../../src/gateway/apis/model-apis.ts";
import type { ModelApi } from "../../../../src/gateway/apis/model-api.ts";
import type { Metered } from "../../../../src/gateway/holds/most-used.ts";
import type { WorstCase } from "../../../../src/budgets/admission.ts";
import { worstCaseOf } from "../../../../src/gateway/holds/worst-case.ts";
import { loadPriceList } from "../../../../src/prices/list/load-price-list.ts";
import { createPriceBook } from "../../../../src/prices/price-book.ts";
import { projectSchedules, type ProjectPrice } from "../../../../src/prices/project/project-prices.ts";

const list = await loadPriceList();

export const startedAtUs = Date.parse("2026-11-25T12:00:00Z") * 1000;

export function bookOf(prices: readonly ProjectPrice[] = []) {
  return createPriceBook({ list, project: projectSchedules(prices) });
}

export const book = bookOf();

/** The API of a path without `/v1`, or of a verb of Gemini's. */
export function apiAt(path: string): ModelApi {
  const api = MODEL_APIS.find((one) => one.path === path) ?? GEMINI_APIS.get(path);
  if (api === undefined) throw new Error(`no metered endpoint: ${path}`);
  return api;
}

const providers: Readonly<Record<string, string>> = {
  openai: "openai",
  anthropic: "anthropic",
  gemini: "google",
};

export function heldFor(
  path: string,
  body: Metered["body"],
  more: Partial<Metered> & { readonly prices?: readonly ProjectPrice[] } = {},
): WorstCase {
  const { prices, ...asked } = more;
  const modelApi = apiAt(path);
  const metered = {
    modelApi,
    body,
    model: String(body["model"]),
    provider: providers[modelApi.api],
    startedAtUs,
    ...asked,
  };
  return worstCaseOf(metered, prices === undefined ? book : bookOf(prices));
}

/** Dollars of a hold. */
export function dollars({ usd }: WorstCase): number | null {
  return usd === null ? null : Number(usd) / 1e18;
}
