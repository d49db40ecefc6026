import { isJsonObject } from "../../shared/json.ts";

type Json = Readonly<Record<string, unknown>>;

/** Returns the usage in a chunk or completion; Groq reports it in `x_groq`, Moonshot in the final choice. */
export function usageIn({ usage, x_groq: groq, choices }: Json): Json | undefined {
  const inChoice: unknown = Array.isArray(choices)
    ? choices.findLast((choice) => isJsonObject(choice) && isJsonObject(choice["usage"]))
    : undefined;
  const candidates = [
    usage,
    isJsonObject(groq) ? groq["usage"] : undefined,
    isJsonObject(inChoice) ? inChoice["usage"] : undefined,
  ];
  return candidates.find(isJsonObject);
}
