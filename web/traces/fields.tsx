import { useQuery } from "../api/use-query.ts";
import { Choices } from "../components/lazy-choices.ts";
import { fieldsIn } from "./search-lookup.ts";
import { placeOf, type TracesQuestion } from "./traces-question.ts";

interface FieldsProps {
  readonly question: TracesQuestion;
  readonly onChoose: (path: string) => void;
}

/** The fields in payloads of the project. */
export function Fields({ question, onChoose }: FieldsProps) {
  const { value = [], busy } = useQuery(`fields ${JSON.stringify(placeOf(question))}`, (asking) =>
    fieldsIn(question, "", asking),
  );
  return (
    <Choices
      label="Field of the root"
      placeholder="attributes.version"
      found={(text) => value.filter((one) => one.value.toLowerCase().includes(text.trim().toLowerCase()))}
      none={(text) => (busy ? "…" : `No field is called “${text}”.`)}
      onChoose={onChoose}
    />
  );
}
