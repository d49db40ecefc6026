import { postJson, type RequestOptions } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { isPath } from "../state/search.ts";
import { boundsOf, type TimeRange } from "../state/time-range.ts";
import type { Choice } from "./choices.tsx";
import { Choices } from "./lazy-choices.ts";

interface Place {
  readonly project: string;
  readonly window: TimeRange;
}

interface FieldPickerProps {
  readonly label: string;
  readonly place: Place;
  /** Offered before the fields of payloads. */
  readonly named?: readonly Choice[];
  readonly onChoose: (field: string) => void;
}

/** The fields in payloads of the project, or another one as it is typed. */
export function FieldPicker({ label, place, named = [], onChoose }: FieldPickerProps) {
  const { project, window } = place;
  const { value = [], busy } = useQuery(`fields ${JSON.stringify({ project, window })}`, (asking) =>
    fieldsIn(place, "", asking),
  );
  return (
    <Choices
      label={label}
      placeholder="attributes.version"
      found={(text) => {
        const typed = text.trim();
        const known = [...named, ...value];
        const found = known.filter(({ label }) => label.toLowerCase().includes(typed.toLowerCase()));
        const isNew =
          isPath(typed) && !/[\s,:<>="]/u.test(typed) && !known.some((one) => one.value === typed);
        return isNew ? [...found, { value: typed, label: typed }] : found;
      }}
      none={(text) => (busy ? "…" : `No field is called “${text}”.`)}
      onChoose={onChoose}
    />
  );
}

/** Fields of payloads that a search can name, with an example of each. */
export async function fieldsIn(
  { project, window }: Place,
  prefix: string,
  asking: RequestOptions,
): Promise<readonly Required<Choice>[]> {
  const body = { project_id: project, ...boundsOf(window), prefix };
  const { fields } = (await postJson({ path: "/fields/query", body }, asking)).body;
  return fields
    .filter(({ path, type }) => type !== "object" && isPath(path) && !/[\s,:<>="]/u.test(path))
    .map(({ path, example }) => ({
      value: path,
      label: path,
      hint: example === null ? "" : typeof example === "string" ? example : JSON.stringify(example),
    }));
}
