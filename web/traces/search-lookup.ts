import { counted } from "../format/figure.ts";
import { fieldsIn } from "../components/field-picker.tsx";
import type { KnownValue } from "../state/complete-search.ts";
import { OF_ROOT } from "../state/search.ts";
import type { SearchLookup } from "../components/use-suggestions.ts";
import { conditionOf, facetOfField } from "./facets.ts";
import { loadFacets } from "./load-facets.ts";
import { selectionOf, type TracesQuestion } from "./traces-question.ts";

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
