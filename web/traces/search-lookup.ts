import { postJson, type RequestOptions } from "../api/client.ts";
import { counted } from "../format/figure.ts";
import type { Choice } from "../components/choices.tsx";
import type { KnownValue } from "../state/complete-search.ts";
import { isPath, OF_ROOT } from "../state/search.ts";
import type { SearchLookup } from "../components/use-suggestions.ts";
import { conditionOf, facetOfField } from "./facets.ts";
import { loadFacets } from "./load-facets.ts";
import { placeOf, selectionOf, type TracesQuestion } from "./traces-question.ts";

/** Looks up what the listed traces have. */
export function lookupIn(question: TracesQuestion): SearchLookup {
  return {
    key: JSON.stringify(selectionOf(question, question.query)),
    values: async (field, asking) => {
      const isOfRoot = field.startsWith(OF_ROOT);
      const facet = facetOfField(isOfRoot ? field.slice(OF_ROOT.length) : field);
      if (facet === undefined) return [];
      const found = await loadFacets(question, [facet], asking);
      return found.get(facet.key)!.values.flatMap((value): KnownValue[] => {
        const condition = conditionOf(facet, value.value);
        const count = counted(value.traces, "trace");
        const hint = facet.by.ofRoot === true && !isOfRoot ? `root of ${count}` : count;
        return condition === undefined ? [] : [{ value: condition.value, hint }];
      });
    },
    paths: (prefix, asking) => fieldsIn(question, prefix, asking),
  };
}

/** Fields of payloads that a search can name, with an example of each. */
export async function fieldsIn(
  place: Pick<TracesQuestion, "project" | "window">,
  prefix: string,
  asking: RequestOptions,
): Promise<readonly Required<Choice>[]> {
  const body = { ...placeOf(place), prefix };
  const { fields } = (await postJson({ path: "/fields/query", body }, asking)).body;
  return fields
    .filter(({ path, type }) => type !== "object" && isPath(path) && !/[\s:<>="]/u.test(path))
    .map(({ path, example }) => ({
      value: path,
      label: path,
      hint: example === null ? "" : typeof example === "string" ? example : JSON.stringify(example),
    }));
}
