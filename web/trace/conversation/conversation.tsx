import { useEffect, useMemo, useState } from "react";
import { oneLine, visible } from "../../format/plain-text.ts";
import { JsonTree } from "../../components/json-tree.tsx";
import { Prose } from "../../components/prose.tsx";
import type { Message, Part } from "./message.ts";

const FIRST = 40;

/** Conversation: a card per message, tool calls with their results, reasoning collapsed. */
export function Conversation({ messages }: { readonly messages: readonly Message[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = useMemo(() => withResults(messages), [messages]);
  const hidden = isWhole ? 0 : Math.max(0, shown.length - FIRST);
  return (
    <ol className="conversation">
      {hidden > 0 && (
        <li>
          <button onClick={() => setWhole(true)}>Show the {hidden} messages before these</button>
        </li>
      )}
      {shown.slice(hidden).map(({ role, parts }, at) => (
        <li key={hidden + at} className={`message ${KNOWN.includes(role) ? role : "other"}`}>
          <h3>{oneLine(role, 40)}</h3>
          {parts.map((part, index) => (
            <OnePart key={index} part={part} />
          ))}
        </li>
      ))}
    </ol>
  );
}

const KNOWN = ["system", "user", "assistant", "tool"];

type Shown = Part & { readonly result?: unknown };

/** Puts results into the cards of their calls. */
function withResults(
  messages: readonly Message[],
): readonly { readonly role: string; readonly parts: readonly Shown[] }[] {
  const parts = messages.flatMap((message) => message.parts);
  const called = new Set(parts.map((part) => (part.kind === "call" ? part.id : undefined)));
  const results = new Map(
    parts.flatMap((part) => (part.kind === "result" ? [[part.id, part.value] as const] : [])),
  );
  called.delete(undefined);
  return messages
    .map(({ role, parts }) => ({
      role,
      parts: parts
        .filter((part) => part.kind !== "result" || !called.has(part.id))
        .map((part) => (part.kind === "call" ? { ...part, result: part.id && results.get(part.id) } : part)),
    }))
    .filter(({ parts }) => parts.length > 0);
}

function OnePart({ part }: { readonly part: Shown }) {
  if (part.kind === "text") return <Prose text={part.text} />;
  if (part.kind === "image") return <Picture type={part.type} base64={part.base64} />;
  if (part.kind === "elsewhere") {
    return (
      <p className="dim">
        An image that lies elsewhere, which is not loaded: <code>{oneLine(part.url, 200)}</code>
      </p>
    );
  }
  if (part.kind === "reasoning") {
    return (
      <details>
        <summary>Reasoning</summary>
        <Prose text={part.text} />
      </details>
    );
  }
  if (part.kind === "call") {
    return (
      <div className="tool-call">
        <strong>
          <span aria-hidden="true">⚙ </span>
          <bdi>{oneLine(part.name, 80)}</bdi>
        </strong>
        <Value label="Arguments" value={part.args} />
        <Value label="Result" value={part.result} />
      </div>
    );
  }
  return <Value label={part.kind === "result" ? "Result" : "Something else"} value={part.value} />;
}

function Value({ label, value }: { readonly label: string; readonly value: unknown }) {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "object") return <JsonTree label={label} value={value} find="" />;
  return (
    <div>
      <h4>{label}</h4>
      <pre tabIndex={0}>
        {visible((typeof value === "string" ? value : JSON.stringify(value)).slice(0, 20_000))}
      </pre>
    </div>
  );
}

/** Image types that contain nothing but pixels; SVG may contain scripts. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MAX_CHARS = 20_000_000;

/** An image of the payload, from a blob; nothing is asked from anywhere. */
function Picture({ type, base64 }: { readonly type: string; readonly base64: string }) {
  const [url, setUrl] = useState<string | undefined>(undefined);
  const isKnown = PICTURES.includes(type) && base64.length <= MAX_CHARS;
  useEffect(() => {
    const bytes = isKnown ? bytesOf(base64) : undefined;
    if (bytes === undefined) return;
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [type, base64, isKnown]);
  if (url === undefined)
    return (
      <p className="dim">
        {oneLine(type === "" ? "data" : type, 60)}, {Math.round((base64.length * 3) / 4000)} kB
      </p>
    );
  return <img src={url} alt="From the payload" />;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  } catch {
    return undefined;
  }
}
