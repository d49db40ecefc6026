import { useState } from "react";
import { formatCount } from "../format/figure.ts";
import { visible } from "../format/plain-text.ts";
import { CopyButton } from "./copy-button.tsx";

const FIRST_CHARS = 20_000;
const MORE_CHARS = 200_000;

/** Text of a call, of any length: the first part, and more on request. */
export function LongText({ text, label }: { readonly text: string; readonly label: string }) {
  const [chars, setChars] = useState(FIRST_CHARS);
  return (
    <div className="long-text">
      <CopyButton label="copy" title={`Copy all of the ${label}`} text={() => text} />
      <pre dir="auto" tabIndex={0} aria-label={label}>
        {visible(text.slice(0, chars))}
      </pre>
      {chars < text.length && (
        <p>
          {formatCount(chars).text} of {formatCount(text.length).text} characters.{" "}
          <button onClick={() => setChars(chars + MORE_CHARS)}>
            Show {formatCount(Math.min(MORE_CHARS, text.length - chars)).text} more
          </button>
        </p>
      )}
    </div>
  );
}
