/** Markdown as blocks of text. It is read line by line, in time that grows with its length alone. */
export type Block =
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "quote"; readonly text: string }
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "list"; readonly isOrdered: boolean; readonly items: readonly string[] };

export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  const end = (): void => {
    if (lines.length > 0) blocks.push({ kind: "paragraph", text: lines.join("\n") });
    lines = [];
  };
  const all = markdown.split("\n");
  for (let at = 0; at < all.length; at++) {
    const line = all[at]!;
    const marker = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1];
    if (marker !== undefined) {
      end();
      const close = all.findIndex((one, later) => later > at && one.trim().startsWith(marker));
      const last = close < 0 ? all.length : close;
      blocks.push({ kind: "code", text: all.slice(at + 1, last).join("\n") });
      at = last;
      continue;
    }
    const block = blockOfLine(line);
    if (block === undefined) lines.push(line);
    else if (block === "end") end();
    else {
      end();
      addBlock(blocks, block, all[at - 1] ?? "");
    }
  }
  end();
  return blocks;
}

/** Undefined: it goes on. */
function blockOfLine(line: string): Block | "end" | undefined {
  if (line.trim() === "") return "end";
  const heading = /^(#{1,6})\s+(.*)$/.exec(line);
  if (heading !== null) return { kind: "heading", level: heading[1]!.length, text: heading[2]! };
  const quote = /^>\s?(.*)$/.exec(line);
  if (quote !== null) return { kind: "quote", text: quote[1]! };
  const item = /^\s*(?:([-*+])|\d{1,9}[.)])\s+(.*)$/.exec(line);
  if (item !== null) return { kind: "list", isOrdered: item[1] === undefined, items: [item[2]!] };
  return undefined;
}

/** Joins a line to the block before, if it is of the same kind and nothing stands between. */
function addBlock(blocks: Block[], block: Block, before: string): void {
  const last = blocks.at(-1);
  const isNext = before.trim() !== "";
  if (isNext && block.kind === "list" && last?.kind === "list" && last.isOrdered === block.isOrdered)
    blocks[blocks.length - 1] = { ...last, items: [...last.items, ...block.items] };
  else if (isNext && block.kind === "quote" && last?.kind === "quote")
    blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${block.text}` };
  else blocks.push(block);
}

export type Span = { readonly kind: "text" | "strong" | "em" | "code"; readonly text: string };

const SPANS = /`([^`\n]{1,2000})`|\*\*([^*\n]{1,2000})\*\*|__([^_\n]{1,2000})__|\*([^*\s][^*\n]{0,2000})\*/g;

/** A line of text; links stay what was written. */
export function spansOf(text: string): readonly Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const match of text.matchAll(SPANS)) {
    const [whole, code, strong, under, em] = match;
    if (match.index > from) spans.push({ kind: "text", text: text.slice(from, match.index) });
    if (code !== undefined) spans.push({ kind: "code", text: code });
    else if (em !== undefined) spans.push({ kind: "em", text: em });
    else spans.push({ kind: "strong", text: strong ?? under ?? "" });
    from = match.index + whole.length;
  }
  if (from < text.length) spans.push({ kind: "text", text: text.slice(from) });
  return spans;
}
