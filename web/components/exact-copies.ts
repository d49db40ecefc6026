/** Copied figures have all their digits, although the page shows few. */
export function copyExactly(event: ClipboardEvent): void {
  const selection = document.getSelection();
  if (selection === null || selection.isCollapsed || isTyped(event.target)) return;
  const figures = [...document.querySelectorAll<HTMLElement>("[data-exact]")].filter((figure) =>
    selection.containsNode(figure, true),
  );
  if (figures.length === 0) return;
  event.clipboardData?.setData("text/plain", textWithExact(figures, selection));
  event.preventDefault();
}

function isTyped(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

/** Selected text with all digits of its figures, as the clipboard gets it. */
function textWithExact(figures: readonly HTMLElement[], selection: Selection): string {
  const { startContainer, startOffset, endContainer, endOffset } = selection.getRangeAt(0);
  const range = document.createRange();
  range.setStart(startContainer, startOffset);
  range.setEnd(endContainer, endOffset);
  const texts = figures.flatMap((figure) => {
    // part of a figure is copied as the whole figure
    if (figure.contains(startContainer)) range.setStartBefore(figure);
    if (figure.contains(endContainer)) range.setEndAfter(figure);
    const nodes = [...figure.childNodes].filter((node) => node instanceof Text);
    const exact = figure.dataset["exact"] ?? "";
    return nodes.map((node, at) => ({ node, shown: node.data, exact: at === 0 ? exact : "" }));
  });
  for (const { node, exact } of texts) node.data = exact;
  choose(selection, range);
  const text = selection.toString();
  for (const { node, shown } of texts) node.data = shown;
  range.setStart(startContainer, startOffset);
  range.setEnd(endContainer, endOffset);
  choose(selection, range);
  return text;
}

function choose(selection: Selection, range: Range): void {
  selection.removeAllRanges();
  selection.addRange(range);
}
