/** The provider behind a host, by the end of the host's name. The names are those of the built-in price list. */
const HOSTS: readonly (readonly [host: string, provider: string])[] = [
  ["api.openai.com", "openai"],
  ["openai.azure.com", "azure"],
  ["services.ai.azure.com", "azure"],
  ["cognitiveservices.azure.com", "azure"],
  ["api.anthropic.com", "anthropic"],
  ["googleapis.com", "google"],
  ["api.mistral.ai", "mistral"],
  ["api.cohere.com", "cohere"],
  ["api.cohere.ai", "cohere"],
  ["api.deepseek.com", "deepseek"],
  ["api.x.ai", "x-ai"],
  ["api.perplexity.ai", "perplexity"],
  ["api.moonshot.ai", "moonshotai"],
  ["api.moonshot.cn", "moonshotai"],
  ["api.minimax.io", "minimax"],
  ["api.z.ai", "zai"],
  ["open.bigmodel.cn", "zhipuai"],
  ["api.voyageai.com", "voyageai"],
  ["openrouter.ai", "openrouter"],
  ["api.groq.com", "groq"],
  ["api.together.xyz", "together"],
  ["api.together.ai", "together"],
  ["api.fireworks.ai", "fireworks"],
  ["api.cerebras.ai", "cerebras"],
  ["api.novita.ai", "novita"],
  ["inference.baseten.co", "baseten"],
  ["oai.endpoints.kepler.ai.cloud.ovh.net", "ovhcloud"],
];
const BEDROCK = /^bedrock-runtime\.[a-z0-9-]+\.amazonaws\.com$/;

/** The provider that serves at a host; undefined for unknown hosts, such as those of a private network. */
export function providerAt(hostname: string): string | undefined {
  const host = hostname.toLowerCase();
  if (BEDROCK.test(host)) return "aws";
  return HOSTS.find(([known]) => host === known || host.endsWith(`.${known}`))?.[1];
}
