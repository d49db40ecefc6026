import { useEffect, useRef, useState } from "react";
import { oneLine } from "../format/plain-text.ts";
import { isSum, printSearch, type Search } from "../state/search.ts";
import { readQuery, type AskedFor } from "../state/query.ts";
import { Chip } from "./chip.tsx";
import { SuggestInput } from "./suggest-input.tsx";
import { useSuggestions, type SearchLookup } from "./use-suggestions.ts";

interface SearchBoxProps {
  /** As in the address. */
  readonly text: string;
  readonly of: "calls" | "traces";
  readonly query: AskedFor;
  readonly onText: (text: string) => void;
  /** Completes the names and values that exist. */
  readonly lookup?: SearchLookup;
}

/** One box for words and conditions, which refuses what it does not know while it is typed; JSON under Advanced. */
export function SearchBox({ text, of, query, onText, lookup }: SearchBoxProps) {
  const [typed, setTyped] = useState(text);
  const [isAdvanced, setAdvanced] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "/" || isTaken(event.target)) return;
      input.current?.focus();
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const items = useSuggestions(typed, lookup);
  const [isOpen, setOpen] = useState(false);
  const { faults } = typed === text ? query : readQuery(typed, of);
  // a condition that can still be completed is not wrong yet
  const isBegun = isOpen && items.length > 0;
  const wrong = isBegun ? faults.filter(({ part }) => !typed.endsWith(part)) : faults;
  return (
    <div className="filters">
      <form
        className="search"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (faults.length === 0) onText(typed.trim());
        }}
      >
        <SuggestInput
          ref={input}
          type="search"
          aria-label={`Search ${of}`}
          aria-invalid={wrong.length > 0}
          aria-describedby="search-faults"
          placeholder="parcel status:failed user:ana      /"
          value={typed}
          items={items}
          onText={setTyped}
          onOpen={setOpen}
        />
        <button type="submit" disabled={faults.length > 0}>
          Search
        </button>
      </form>
      <Chips text={text} query={query} onText={onText} />
      <button className="quiet" aria-expanded={isAdvanced} onClick={() => setAdvanced(!isAdvanced)}>
        Advanced
      </button>
      <div id="search-faults" className="faults" role="alert">
        {wrong.map(({ part, msg }) => (
          <p key={part + msg} className="failed">
            <code>{oneLine(part, 60)}</code> {msg}
          </p>
        ))}
      </div>
      {isAdvanced && <Advanced key={text} query={query} text={text} onText={onText} />}
    </div>
  );
}

/** Somebody types there, or it has a use for the key. */
function isTaken(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null;
}

function Chips({ text, query, onText }: Pick<SearchBoxProps, "text" | "query" | "onText">) {
  if (text === "") return null;
  const { search } = query;
  if (search === undefined)
    return <Chip text="Custom query" remove="Remove the query" onRemove={() => onText("")} />;
  const parts = [
    ...search.conditions.map((one) => ({ words: [], conditions: [one] })),
    ...search.words.map((one) => ({ words: [one], conditions: [] })),
  ];
  const without = ({ words, conditions }: Search): string =>
    printSearch({
      words: search.words.filter((one) => !words.includes(one)),
      conditions: search.conditions.filter((one) => !conditions.includes(one)),
    });
  return (
    <>
      {parts.map((part) => {
        const text = printSearch(part);
        return (
          <Chip key={text} {...{ text }} remove={`Remove ${text}`} onRemove={() => onText(without(part))} />
        );
      })}
      {parts.length > 1 && (
        <button className="quiet" onClick={() => onText("")}>
          Clear search
        </button>
      )}
    </>
  );
}

/** The same as a query of the interface, which can be edited. */
function Advanced({ query, text, onText }: Pick<SearchBoxProps, "text" | "query" | "onText">) {
  const [edited, setEdited] = useState(() =>
    query.search === undefined && query.faults.length > 0
      ? text
      : JSON.stringify({ $expr: query.operand ?? {} }, null, 2),
  );
  const [fault, setFault] = useState<string | undefined>(undefined);
  return (
    <form
      className="query"
      onSubmit={(event) => {
        event.preventDefault();
        const [first] = readQuery(edited, "calls").faults;
        setFault(first?.msg);
        if (first !== undefined) return;
        const { $expr } = JSON.parse(edited) as { $expr?: object };
        onText(
          $expr !== undefined && Object.keys($expr).length === 0 ? "" : JSON.stringify(JSON.parse(edited)),
        );
      }}
    >
      <textarea
        aria-label="Query"
        rows={6}
        spellCheck={false}
        value={edited}
        onChange={(event) => setEdited(event.currentTarget.value)}
      />
      <div>
        <button type="submit">Apply</button>{" "}
        {fault !== undefined && (
          <span className="failed" role="alert">
            {fault}
          </span>
        )}
        <span className="dim">
          {" "}
          The window is added to it{query.search?.conditions.some(isSum) && ", conditions on sums are not"}.
        </span>
      </div>
    </form>
  );
}
