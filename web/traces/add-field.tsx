import { useQuery } from "../api/use-query.ts";
import { Menu } from "../components/menu.tsx";
import { Choices } from "../components/lazy-choices.ts";
import { fieldsIn } from "./search-lookup.ts";
import { placeOf, type TracesQuestion } from "./traces-question.ts";

interface AddFieldProps {
  readonly question: TracesQuestion;
  readonly onAdd: (path: string) => void;
}

/** A menu of the fields in payloads of the project. */
export function AddField({ question, onAdd }: AddFieldProps) {
  return (
    <Menu label="Add a field" className="quiet">
      {(close) => (
        <Fields
          question={question}
          onAdd={(path) => {
            close();
            onAdd(path);
          }}
        />
      )}
    </Menu>
  );
}

function Fields({ question, onAdd }: AddFieldProps) {
  const { value = [], busy } = useQuery(`fields ${JSON.stringify(placeOf(question))}`, (asking) =>
    fieldsIn(question, "", asking),
  );
  return (
    <Choices
      label="Field of the root"
      placeholder="attributes.version"
      found={(text) => value.filter((one) => one.value.toLowerCase().includes(text.trim().toLowerCase()))}
      none={(text) => (busy ? "…" : `No field is called “${text}”.`)}
      onChoose={onAdd}
    />
  );
}
