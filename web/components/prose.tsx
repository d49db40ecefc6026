import { useMemo, useState } from "react";
import { formatCount } from "../format/figure.ts";
import { visible } from "../format/plain-text.ts";
import { blocksOf, spansOf, type Block } from "./markdown.ts";

const FIRST_CHARS = 20_000;
const MORE_CHARS = 100_000;

/** Markdown of a call: its text, and never anything that it names. */
export function Prose({ text }: { readonly text: string }) {
  const [chars, setChars] = useState(FIRST_CHARS);
  const blocks = useMemo(() => blocksOf(visible(text.slice(0, chars))), [text, chars]);
  return (
    <div className="prose" dir="auto">
      {blocks.map((block, at) => (
        <OneBlock key={at} block={block} />
      ))}
      {chars < text.length && (
        <p className="dim">
          {formatCount(chars).text} of {formatCount(text.length).text} characters.{" "}
          <button onClick={() => setChars(chars + MORE_CHARS)}>Show more</button>
        </p>
      )}
    </div>
  );
}

function OneBlock({ block }: { readonly block: Block }) {
  if (block.kind === "code") return <pre tabIndex={0}>{block.text}</pre>;
  if (block.kind === "list") {
    const List = block.isOrdered ? "ol" : "ul";
    return (
      <List>
        {block.items.map((text, at) => (
          <li key={at}>
            <Line text={text} />
          </li>
        ))}
      </List>
    );
  }
  const Paragraph = block.kind === "quote" ? "blockquote" : "p";
  return (
    <Paragraph className={block.kind}>
      <Line text={block.text} />
    </Paragraph>
  );
}

function Line({ text }: { readonly text: string }) {
  return (
    <>
      {spansOf(text).map(({ kind, text: one }, at) => {
        if (kind === "strong") return <strong key={at}>{one}</strong>;
        if (kind === "em") return <em key={at}>{one}</em>;
        if (kind === "code") return <code key={at}>{one}</code>;
        return one;
      })}
    </>
  );
}
