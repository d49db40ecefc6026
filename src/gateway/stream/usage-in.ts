import { isJsonObject } from "../../shared/json.ts";

type Json = Readonly<Record<string, unknown>>;

/** The usage that a chunk or a completion reports: Groq among its own facts, Moonshot in the choice that ends. */
export function usageIn({ usage, x_groq: groq, choices }: Json): Json | undefined {
  const inChoice: unknown = Array.isArray(choices)
    ? choices.findLast((choice) => isJsonObject(choice) && isJsonObject(choice["usage"]))
    : undefined;
  const places = [
    usage,
    isJsonObject(groq) ? groq["usage"] : undefined,
    isJsonObject(inChoice) ? inChoice["usage"] : undefined,
  ];
  return places.find(isJsonObject);
}
