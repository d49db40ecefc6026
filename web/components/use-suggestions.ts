import { useEffect, useState } from "react";
import type { RequestOptions } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import {
  lookupOf,
  readBegun,
  suggestionsFor,
  type KnownValue,
  type Suggestion,
} from "../state/complete-search.ts";

/** Looks up what exists: values of a field, or fields with a prefix. */
export interface SearchLookup {
  /** Changes with the answers. */
  readonly key: string;
  values(field: string, asking: RequestOptions): Promise<readonly KnownValue[]>;
  paths(prefix: string, asking: RequestOptions): Promise<readonly KnownValue[]>;
}

const PAUSE_MS = 150;

/** Ways to go on with a search; what exists is looked up when somebody stops typing for a moment. */
export function useSuggestions(typed: string, lookup: SearchLookup | undefined): readonly Suggestion[] {
  const begun = readBegun(typed);
  const { values, prefix } = (lookup && lookupOf(begun)) ?? {};
  const asked = usePaused(
    values === undefined && prefix === undefined ? "" : JSON.stringify([values, prefix]),
  );
  const { value, isOld } = useQuery(
    asked === "" || lookup === undefined ? undefined : `search ${lookup.key} ${asked}`,
    (asking) => (values === undefined ? lookup!.paths(prefix ?? "", asking) : lookup!.values(values, asking)),
  );
  return suggestionsFor(begun, isOld ? [] : (value ?? []));
}

function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused === text ? text : "";
}
