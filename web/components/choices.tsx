import { useEffect, useRef, useState } from "react";
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
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const all = found(text);
  const shown = all.slice(0, MAX_SHOWN);
  const active = Math.min(at, shown.length - 1);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active, text]);
  return (
    <form
      className="choices"
      onSubmit={(event) => {
        event.preventDefault();
        const choice = shown[active];
        if (choice !== undefined) onChoose(choice.value);
      }}
    >
      <input
        ref={input}
        role="combobox"
        aria-label={label}
        aria-expanded={true}
        aria-controls="choices"
        aria-activedescendant={active >= 0 ? `choice-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        value={text}
        aria-invalid={shown.length === 0}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step === undefined || shown.length === 0) return;
          setAt((active + step + shown.length) % shown.length);
          event.preventDefault();
        }}
      />
      <div ref={list} id="choices" role="listbox" aria-label={label} className="list">
        {shown.map(({ value, label: name, hint }, index) => (
          <div
            key={value}
            id={`choice-${index}`}
            role="option"
            aria-selected={index === active}
            className={value === chosen ? "chosen" : ""}
            onMouseMove={() => setAt(index)}
            onClick={() => onChoose(value)}
          >
            <bdi>{oneLine(name, 100)}</bdi>
            {hint !== undefined && <span className="dim">{hint}</span>}
          </div>
        ))}
      </div>
      {shown.length === 0 && (
        <p className="failed" role="alert">
          {none(oneLine(text, 60))}
        </p>
      )}
      {all.length > MAX_SHOWN && <p className="dim">and {all.length - MAX_SHOWN} more: type to find them</p>}
    </form>
  );
}
