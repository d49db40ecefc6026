import { isJsonObject } from "../../shared/json.ts";

type Json = Readonly<Record<string, unknown>>;

/** Model list format of an API. */
export type ListShape = "openai" | "anthropic" | "codex";

/** Model list of one upstream. */
export interface ListedModels {
  readonly provider: string | undefined;
  readonly items: readonly Json[];
}

/** Reads the items of a page in any format. */
export function itemsOf(page: unknown): readonly Json[] {
  const list = isJsonObject(page) ? (page["data"] ?? page["models"]) : page;
  return Array.isArray(list) ? list.filter(isJsonObject).filter((item) => idOf(item) !== undefined) : [];
}

/** Returns the cursor of the next page; `undefined` after the last page. */
export function nextOf(page: unknown): string | undefined {
  if (!isJsonObject(page) || page["has_more"] !== true) return undefined;
  return typeof page["last_id"] === "string" && page["last_id"] !== "" ? page["last_id"] : undefined;
}

/** Merges model lists in upstream order; the first of equal ids wins. */
export function mergeModelLists(lists: readonly ListedModels[], shape: ListShape): Json {
  const known = new Map<string, Json>();
  for (const { items, provider } of lists) {
    for (const item of items) {
      const id = idOf(item)!;
      if (!known.has(id)) known.set(id, inShape(item, { id, provider, shape }));
    }
  }
  const data = [...known.values()];
  if (shape === "codex") return { models: data };
  if (shape === "openai") return { object: "list", data };
  const [first_id = null] = known.keys();
  return { data, has_more: false, first_id, last_id: [...known.keys()].at(-1) ?? null };
}

function idOf({ id, slug }: Json): string | undefined {
  return [id, slug].find((one): one is string => typeof one === "string" && one !== "");
}

/** Converts an item to the requested format; an item already in it passes unchanged. */
function inShape(
  item: Json,
  { id, provider, shape }: { id: string; provider: string | undefined; shape: ListShape },
): Json {
  if (shape === "codex") return item["slug"] === undefined ? { slug: id, ...item } : item;
  const { created, created_at: createdAt, display_name: name, owned_by: owner } = item;
  if (shape === "openai") {
    if (item["object"] === "model") return item;
    const seconds = Math.floor(Date.parse(String(createdAt)) / 1000);
    const since = typeof created === "number" ? created : Number.isFinite(seconds) ? seconds : 0;
    return { ...item, id, object: "model", created: since, owned_by: owner ?? provider ?? "anthropic" };
  }
  if (item["type"] === "model") return item;
  const since = typeof created === "number" && created < 1e11 ? created : 0;
  return {
    type: "model",
    id,
    display_name: typeof name === "string" ? name : id,
    created_at: typeof createdAt === "string" ? createdAt : new Date(since * 1000).toISOString(),
  };
}
