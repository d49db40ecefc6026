import { postJson } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { ratingOf } from "../state/rating.ts";
import { boundsOf, type TimeRange } from "../state/time-range.ts";

/** The rating that feedback of a window suggests, first of all a boolean; undefined until known, and without feedback. */
export function useSuggestedRating(project: string, window: TimeRange): string | undefined {
  const body = { project_id: project, ...boundsOf(window) };
  const { value } = useQuery(`rating ${JSON.stringify(body)}`, async (asking) => {
    const { paths } = (await postJson({ path: "/feedback/payload_schema", body }, asking)).body;
    const first = (["boolean", "numeric", "categorical"] as const).flatMap((type) =>
      paths.filter(({ value_type }) => value_type === type),
    )[0];
    return { text: first && ratingOf(first) };
  });
  return value?.text;
}
