import { isJsonObject } from "../../shared/json.ts";
import type { Unit } from "../../usage/units.ts";
import type { Json } from "../apis/draft.ts";

/** Work of the server besides answering, as far as a request allows it. */
export interface ServerWork {
  /** The server adds to the prompt: stored context, results of its own tools. */
  readonly addsContext: boolean;
  /** Tokens of prompts that providers write for tools. */
  readonly toolPromptTokens: number;
  /** The most of each unit. */
  readonly units: Readonly<Partial<Record<Unit, number>>>;
  /** Models of tools, each with a prompt and an output of its own. */
  readonly models: readonly string[];
}

const SEARCH_MEMBERS = ["web_search_options", "search_parameters"];
const STORED =
  "previous_response_id conversation cachedContent cached_content mcp_servers container data_sources";
/** Members that name stored context, or enable tools of the server. */
const CONTEXT_MEMBERS = [...STORED.split(" "), ...SEARCH_MEMBERS];
/** Tools that the client runs; all but the plain ones have a prompt of the provider's. */
const PLAIN = /^(?:function|custom|function_?declarations)$/i;
const OF_CLIENT = /^(?:local_shell|apply_patch|(?:bash|text_editor|memory)_\d+)$/;
/** Anthropic's tools, of which each may have a limit of its own. */
const DATED = /_\d{8}$/;
/** Units of tools, by type or, at Gemini, by member. */
const UNITS: readonly (readonly [tool: RegExp, unit: Unit])[] = [
  [/^web$|web_?search|google_?(?:search|maps)|enterprise/i, "web_searches"],
  [/^(?:file|collections)_search/, "storage_searches"],
  [/^x_search/, "social_searches"],
  [/^code_(?:interpreter|execution)/, "code_executions"],
];
/** The most that one request is taken to use of a tool without a limit. */
export const MAX_USES = 32;
/** Anthropic's are at most 735 tokens for a tool. Source: platform.claude.com/docs, tool use, pricing. */
const TOOL_PROMPT_TOKENS = 1_000;

export function serverWorkOf(body: Json): ServerWork {
  const tools = [body["tools"], body["functions"], body["plugins"]].flat().filter(isJsonObject);
  const special = tools.map((tool) => [kindOf(tool), tool] as const).filter(([kind]) => !PLAIN.test(kind));
  const ofServer = special.filter(([kind]) => !OF_CLIENT.test(kind));
  const units: Partial<Record<Unit, number>> = {};
  const add = (unit: Unit, limit: unknown): void => {
    units[unit] = (units[unit] ?? 0) + (positive(limit) ?? MAX_USES);
  };
  for (const [kind, tool] of ofServer)
    for (const [name, unit] of UNITS)
      if (name.test(kind)) add(unit, DATED.test(kind) ? tool["max_uses"] : body["max_tool_calls"]);
  if (SEARCH_MEMBERS.some((name) => isSet(body[name]))) add("web_searches", undefined);
  return {
    addsContext:
      ofServer.length > 0 ||
      isJsonObject(body["prompt"]) ||
      CONTEXT_MEMBERS.some((name) => isSet(body[name])),
    toolPromptTokens: tools.length === 0 ? 0 : (1 + special.length) * TOOL_PROMPT_TOKENS,
    units,
    models: ofServer.flatMap(([kind, { model }]) =>
      typeof model === "string" ? [model] : kind === "image_generation" ? ["gpt-image-1"] : [],
    ),
  };
}

function isSet(value: unknown): boolean {
  return value != null && !(Array.isArray(value) && value.length === 0);
}

/** A tool's type; the id of a plug-in of OpenRouter; at Gemini, the members. */
function kindOf({ type, id, name, ...others }: Json): string {
  const said = type ?? id;
  if (typeof said === "string") return said;
  return typeof name === "string" ? "custom" : Object.keys(others).join();
}

/** Reads a positive integer, also from text as in a form; undefined for anything else. */
export function positive(value: unknown): number | undefined {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
