/** A name that the list may have for a model, with the provider named in the id, if any. */
export interface ModelName {
  readonly id: string;
  /** A provider id of the built-in list. */
  readonly seller: string | undefined;
}

/** Longer ids are only looked up unchanged, so that no request decides how long the search takes. */
export const maxIdLength = 256;
const maxPrefixes = 4;

/** Turns round the names that are written for each of the list's providers, besides its own: name → provider. */
function byName(names: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(names).flatMap(([id, others]) => [id, ...others].map((name) => [name, id] as const)),
  );
}

/** Providers that make a model, or sell it at its maker's price, and the prefixes that gateways and SDKs write. */
const sellers = byName({
  openai: [],
  azure: ["azure_ai", "azure_openai", "azure-openai"],
  anthropic: [],
  google: [
    "gemini",
    "google_genai",
    "google-gla",
    "google-vertex",
    "google_vertexai",
    "vertex",
    "vertex_ai",
    "vertex_ai_beta",
  ],
  aws: ["aws_bedrock", "amazon", "amazon-bedrock", "bedrock", "bedrock_converse"],
  mistral: ["mistralai"],
  cohere: ["cohere_chat"],
  deepseek: [],
  "x-ai": ["xai"],
  perplexity: [],
  moonshotai: ["moonshot"],
  minimax: [],
  zai: ["z-ai"],
  zhipuai: [],
  voyageai: ["voyage"],
  openrouter: [],
});

/** Provider names of conventions and SDKs that are not prefixes of ids. */
const providerNames = byName({
  azure: ["azure.ai.openai", "azure.ai.inference", "az.ai.openai", "az.ai.inference"],
  aws: ["aws.bedrock"],
  google: ["gcp.gemini", "gcp.gen_ai", "gcp.vertex_ai", "google.vertex", "google.generative-ai"],
  "x-ai": ["x_ai"],
  mistral: ["mistral_ai"],
  moonshotai: ["moonshot_ai"],
  together: ["togetherai"],
});

/** Providers that host open models at their own prices. If they list no price, the maker's price would be wrong. */
const hosts = byName({
  groq: [],
  together: ["together_ai", "together-ai"],
  fireworks: ["fireworks_ai"],
  cerebras: [],
  novita: [],
  baseten: [],
  cloudflare: [],
  ovhcloud: [],
});

/**
 * The list's name for a provider named by a convention, an SDK or an address (`aws.bedrock`, `openai.chat`); undefined if
 * unknown. `ownPrices`: it sells models of other makers at its own prices.
 */
export function listProviderOf(
  provider: string,
): { readonly id: string; readonly ownPrices: boolean } | undefined {
  for (let name = provider; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    const host = hosts.get(name) ?? hosts.get(providerNames.get(name) ?? "");
    if (host !== undefined) return { id: host, ownPrices: true };
    const seller = sellers.get(name) ?? providerNames.get(name);
    if (seller !== undefined) return { id: seller, ownPrices: seller === "openrouter" };
  }
  return undefined;
}

/** The names a provider may list a model under: unchanged, without prefixes, then without its date. */
export function namesAt(seller: string, llmId: string): readonly ModelName[] {
  const ids = modelNames(llmId).map(({ id }) => id);
  return [...new Set(ids)].map((id) => ({ id, seller }));
}

const artifactUri = /(?:^|\/)wandb-artifact:\/\/\/?([^/]+\/[^/]+\/[^/:]+)(:[^/:]+)?$/;

/**
 * The version of a model that a training service has made, with its colon, and its URI as documents write it, with three
 * slashes and with two. Undefined of other ids.
 */
export function artifactOf(
  llmId: string,
): { readonly uris: readonly string[]; readonly version: string } | undefined {
  const [, path, version = ""] = artifactUri.exec(llmId) ?? [];
  if (path === undefined) return undefined;
  return { uris: [`wandb-artifact:///${path}${version}`, `wandb-artifact://${path}${version}`], version };
}

/** Prefixes that do not name a provider: gateways, endpoints, cloud regions. */
const route =
  /^(?:us|eu|global|models|litellm|litellm_proxy|custom_openai|converse|invoke|(?:us|us-gov|eu|ap|ca|sa|me|af|il|northamerica|southamerica|europe|asia|australia)-[a-z]+-?\d{1,2})$/;

const bedrockArn = /^arn:aws[\w-]*:bedrock:[^/]*\/(.+)$/;
const vertexPath = /^(?:.+\/)?publishers\/[^/]+\/models\/([^/]+)$/;
const bedrockId =
  /^(?:(?:us|us-gov|eu|apac|ap|au|ca|jp|sa|global)\.)?(anthropic|amazon|meta|mistral|cohere|ai21|deepseek|google|minimax|moonshot|nvidia|openai|qwen|zai)\.(.+)$/;
const bedrockVersion = /-v\d+(?::\d+)*$/;
const dateSuffix = /(?:[-@_]20\d{2}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|[-@]latest|@default|@\d{3})$/;

/**
 * The names a price may be listed under for an LLM id, best first: the id unchanged, then without the prefixes of providers,
 * gateways and regions, then each of these without its date. Without duplicates; at most a few dozen.
 */
export function modelNames(llmId: string): readonly ModelName[] {
  if (llmId.length > maxIdLength) return [{ id: llmId, seller: undefined }];
  const dated = withoutPrefixes(llmId.trim());
  const names = new Map<string, ModelName>();
  const add = (name: ModelName): void => {
    const key = `${name.seller ?? ""}\n${name.id}`;
    if (name.id !== "" && !names.has(key)) names.set(key, name);
  };
  add({ id: llmId, seller: undefined });
  for (const name of dated) add(name);
  for (const name of dated) add({ ...name, id: name.id.replace(dateSuffix, "") });
  return [...names.values()];
}

function withoutPrefixes(llmId: string): readonly ModelName[] {
  const names: ModelName[] = [{ id: llmId, seller: undefined }];
  let rest = llmId;
  let seller: string | undefined;
  let host: string | undefined;
  for (let count = 0; count < maxPrefixes; count++) {
    const cut = cutPrefix(rest);
    if (cut === undefined) break;
    rest = cut.rest;
    host ??= cut.host;
    seller = host ?? cut.seller ?? seller;
    if (seller !== undefined) names.push({ id: rest, seller });
    if (host === undefined) names.push({ id: rest, seller: undefined });
  }
  return host === undefined ? [...names, ...bedrockNames(rest)] : names;
}

/** `us.anthropic.claude-…-v1:0`: Bedrock's regional name, Bedrock's general name, then the maker's name. */
function bedrockNames(id: string): readonly ModelName[] {
  const match = bedrockId.exec(id);
  if (match === null) return [];
  const [, vendor = "", model = ""] = match;
  const plain = model.replace(bedrockVersion, "");
  return [
    { id, seller: "aws" },
    { id: `${vendor}.${model}`, seller: "aws" },
    { id: plain, seller: sellers.get(vendor) },
    { id: plain, seller: undefined },
  ];
}

interface Cut {
  readonly rest: string;
  readonly seller?: string | undefined;
  readonly host?: string | undefined;
}

function cutPrefix(id: string): Cut | undefined {
  const arn = bedrockArn.exec(id);
  if (arn !== null) return { rest: arn[1]!, seller: "aws" };
  const vertex = vertexPath.exec(id);
  if (vertex !== null) return { rest: vertex[1]!, seller: "google" };
  const end = id.search(/[/:]/);
  if (end < 1 || end === id.length - 1) return undefined;
  const prefix = id.slice(0, end).toLowerCase();
  const seller = sellers.get(prefix);
  const host = hosts.get(prefix);
  const isPrefix = seller !== undefined || host !== undefined || route.test(prefix);
  return isPrefix ? { rest: id.slice(end + 1), seller, host } : undefined;
}
