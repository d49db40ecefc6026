import { useMemo, useState } from "react";
import { counted } from "../format/figure.ts";
import { visible } from "../format/plain-text.ts";
import { CopyButton } from "./copy-button.tsx";
import { matchesOf, type JsonMatches } from "./json-matches.ts";

interface JsonTreeProps {
  readonly label: string;
  readonly value: unknown;
  /** Search text; empty for none. */
  readonly find: string;
}

const OPEN_DEPTH = 2;
const FIRST_MEMBERS = 100;
const FIRST_CHARS = 1000;

/** A value of JSON that folds. While something is looked for, only what leads to it is shown. */
export function JsonTree({ label, value, find }: JsonTreeProps) {
  const matches = useMemo(() => (find === "" ? undefined : matchesOf(value, find)), [value, find]);
  return (
    <div className="json" role="group" aria-label={label}>
      <div className="json-head">
        <h3>{label}</h3>
        {matches !== undefined && (
          <span className="dim" role="status">
            {matches.count === 0 ? "nothing" : counted(matches.count, "match", "matches")}
            {matches.isCut && ", of the first values"}
          </span>
        )}
        <CopyButton
          label="Copy"
          title={`Copy all of the ${label.toLowerCase()}`}
          text={() => (typeof value === "string" ? value : JSON.stringify(value, null, 2))}
        />
      </div>
      {matches?.count !== 0 && (
        <ul className="json-tree">
          <Node name={undefined} {...{ value, matches }} depth={0} />
        </ul>
      )}
    </div>
  );
}

interface NodeProps {
  readonly name: string | undefined;
  readonly value: unknown;
  readonly depth: number;
  readonly matches: JsonMatches | undefined;
}

function Node({ name, value, depth, matches }: NodeProps) {
  const [isToggled, setToggled] = useState(false);
  const [shown, setShown] = useState(FIRST_MEMBERS);
  const key = name === undefined ? null : <bdi className="json-key">{visible(name)}: </bdi>;
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) {
    return (
      <li>
        {key}
        <Leaf value={value} />
      </li>
    );
  }
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  const wanted =
    matches === undefined || (name !== undefined && matches.isIn(name))
      ? entries
      : entries.filter(([one, inner]) => matches.has(one, inner));
  const isOpen = (matches !== undefined || depth < OPEN_DEPTH) !== isToggled;
  return (
    <li>
      <button className="json-fold" aria-expanded={isOpen} onClick={() => setToggled(!isToggled)}>
        <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {key}
        <span className="dim">{counted(entries.length, Array.isArray(value) ? "item" : "member")}</span>
      </button>
      {isOpen && (
        <ul>
          {wanted.slice(0, shown).map(([one, inner]) => (
            <Node key={one} name={one} value={inner} depth={depth + 1} matches={matches} />
          ))}
          {wanted.length > shown && (
            <li>
              <button onClick={() => setShown(shown + FIRST_MEMBERS * 5)}>
                {counted(wanted.length - shown, "more", "more")}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

/** A scalar, or an empty object or array. */
function Leaf({ value }: { readonly value: unknown }) {
  const [chars, setChars] = useState(FIRST_CHARS);
  if (typeof value === "object" && value !== null)
    return <span className="dim">{Array.isArray(value) ? "[ ]" : "{ }"}</span>;
  if (typeof value !== "string") return <span className="json-scalar">{String(value)}</span>;
  return (
    <>
      <span className="json-text" dir="auto">
        {visible(value.slice(0, chars))}
      </span>
      {value.length > chars && (
        <button className="quiet" onClick={() => setChars(chars * 20)}>
          {counted(value.length - chars, "more character", "more characters")}
        </button>
      )}
    </>
  );
}
