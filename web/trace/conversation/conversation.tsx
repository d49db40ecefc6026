import { useEffect, useMemo, useState } from "react";
import type { Call } from "../../api/routes.ts";
import { oneLine, visible } from "../../format/plain-text.ts";
import { JsonTree } from "../../components/json-tree.tsx";
import { Prose } from "../../components/prose.tsx";
import type { Message, Part } from "./message.ts";
import { readConversation } from "./read-conversation.ts";

/** The messages of a call; empty: it is no conversation. */
export function useConversation(call: Call | undefined): readonly Message[] {
  return useMemo(() => (call === undefined ? [] : readConversation(call)), [call]);
}

const FIRST = 40;

/** Conversation: a card per message, tool calls with their results, reasoning collapsed. */
export function Conversation({ messages }: { readonly messages: readonly Message[] }) {
  const [isWhole, setWhole] = useState(false);
  const results = useMemo(() => resultsOf(messages), [messages]);
  const shown = messages.filter(
    ({ role, parts }) => role !== "tool" || !parts.every((part) => isShownWithCall(part, results)),
  );
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
            <OnePart key={index} part={part} results={results} />
          ))}
        </li>
      ))}
    </ol>
  );
}

const KNOWN = ["system", "user", "assistant", "tool"];

interface Results {
  /** By the id of the call. */
  readonly byId: ReadonlyMap<string, unknown>;
  readonly called: ReadonlySet<string>;
}

function resultsOf(messages: readonly Message[]): Results {
  const parts = messages.flatMap((message) => message.parts);
  const idOf = (kind: Part["kind"]) =>
    parts.flatMap((part) => (part.kind === kind && "id" in part && part.id !== undefined ? [part.id] : []));
  return {
    byId: new Map(
      parts.flatMap((part) =>
        part.kind === "result" && part.id !== undefined ? [[part.id, part.value] as const] : [],
      ),
    ),
    called: new Set(idOf("call")),
  };
}

/** It stands in the card of its call. */
function isShownWithCall(part: Part, { called }: Results): boolean {
  return part.kind === "result" && part.id !== undefined && called.has(part.id);
}

function OnePart({ part, results }: { readonly part: Part; readonly results: Results }) {
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
    const { id, name, args } = part;
    return (
      <div className="tool-call">
        <strong>
          <span aria-hidden="true">⚙ </span>
          <bdi>{oneLine(name, 80)}</bdi>
        </strong>
        <Value label="Arguments" value={args} />
        {id !== undefined && results.byId.has(id) && <Value label="Result" value={results.byId.get(id)} />}
      </div>
    );
  }
  if (part.kind === "result")
    return isShownWithCall(part, results) ? null : <Value label="Result" value={part.value} />;
  return <Value label="Something else" value={part.value} />;
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
