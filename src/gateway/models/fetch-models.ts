import { isJsonObject } from "../../shared/json.ts";
import { textOf, type Json } from "../apis/draft.ts";
import { fetchJson } from "../relay/fetch-json.ts";
import type { Target } from "../upstreams.ts";

/** Model list of one upstream. */
export interface ListedModels {
  readonly provider: string;
  readonly items: readonly Json[];
}

const MAX_PAGES = 20;
/** Queries of a page, and its cursor's name. */
const PAGES = {
  openai: { query: {}, cursor: "after" },
  anthropic: { query: { limit: "1000" }, cursor: "after_id" },
  gemini: { query: { pageSize: "1000" }, cursor: "pageToken" },
} as const;
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
/** Claude Code waits 3 s for the list. */
const TIMEOUT_MS = 2500;
/** Required `anthropic-version` header. */
const ANTHROPIC_VERSION = "2023-06-01";

/** Fetches all pages of an upstream's model list; `undefined` if a request fails or times out. */
export async function fetchModels(target: Target, requestId: string): Promise<ListedModels | undefined> {
  const untilMs = performance.now() + TIMEOUT_MS;
  const items: Json[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const body = await fetchPage(target, { after, requestId, untilMs });
    if (body === undefined) return undefined;
    items.push(...itemsOf(body));
    const next = nextOf(body);
    if (next === undefined || next === after) break;
    after = next;
  }
  return { provider: target.provider ?? (target.api === "gemini" ? "google" : "anthropic"), items };
}

async function fetchPage(
  target: Target,
  { after, requestId, untilMs }: { after: string | undefined; requestId: string; untilMs: number },
): Promise<unknown> {
  const { api } = target;
  const { query, cursor } = PAGES[api];
  const parameters = new URLSearchParams({ ...query, ...(after === undefined ? {} : { [cursor]: after }) });
  const list = api === "gemini" ? "/v1beta/models" : "/models";
  const page = await fetchJson(target, parameters.size === 0 ? list : `${list}?${parameters.toString()}`, {
    requestId,
    headers: api === "anthropic" ? { "anthropic-version": ANTHROPIC_VERSION } : {},
    maxBytes: MAX_PAGE_BYTES,
    timeoutMs: untilMs - performance.now(),
  });
  return typeof page === "object" && page.status === 200 ? page.body : undefined;
}

/** Reads the items of a page in any format. */
function itemsOf(page: unknown): readonly Json[] {
  const list = isJsonObject(page) ? (page["data"] ?? page["models"]) : page;
  return Array.isArray(list) ? list.filter(isJsonObject).filter((item) => idOf(item) !== undefined) : [];
}

/** Returns the cursor of the next page; `undefined` after the last page. */
function nextOf(page: unknown): string | undefined {
  if (!isJsonObject(page)) return undefined;
  return textOf(page["has_more"] === true ? page["last_id"] : page["nextPageToken"]);
}

export function idOf({ id, slug, name }: Json): string | undefined {
  return textOf(id) ?? textOf(slug) ?? /^models\/(.+)/.exec(textOf(name) ?? "")?.[1];
}
