import { Command } from "cmdk";
import { useState } from "react";
import { oneLine } from "../format/plain-text.ts";

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

interface ChoicesProps {
  readonly label: string;
  readonly placeholder: string;
  /** For what is typed. */
  readonly found: (text: string) => readonly Choice[];
  /** Message for a text without matches. */
  readonly none: (text: string) => string;
  readonly chosen?: string | undefined;
  readonly onChoose: (value: string) => void;
}

const MAX_SHOWN = 60;

/** A list with search: up and down move, Enter chooses. */
export function Choices({ label, placeholder, found, none, chosen, onChoose }: ChoicesProps) {
  const [text, setText] = useState("");
  const all = found(text);
  const shown = all.slice(0, MAX_SHOWN);
  return (
    <Command className="choices" label={label} shouldFilter={false} loop>
      <Command.Input
        autoFocus
        // of the document, for a dialog that is shown after it was made
        ref={(input) => input?.setAttribute("autofocus", "")}
        aria-invalid={shown.length === 0}
        placeholder={placeholder}
        value={text}
        onValueChange={setText}
      />
      <Command.List className="list" label={label}>
        {shown.map(({ value, label: name, hint }) => (
          <Command.Item
            key={value}
            value={value}
            className={value === chosen ? "chosen" : ""}
            onSelect={() => onChoose(value)}
          >
            <bdi>{oneLine(name, 100)}</bdi>
            {hint !== undefined && <span className="dim">{hint}</span>}
          </Command.Item>
        ))}
      </Command.List>
      {shown.length === 0 && (
        <p className="failed" role="alert">
          {none(oneLine(text, 60))}
        </p>
      )}
      {all.length > MAX_SHOWN && <p className="dim">and {all.length - MAX_SHOWN} more: type to find them</p>}
    </Command>
  );
}
