/** The lines of a response as they arrive, one chunk's lines together. A last line without a line end means that it broke off. */
export async function* readLines(response: Response): AsyncGenerator<readonly string[]> {
  if (response.body === null) return;
  let rest = "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) yield lines;
  }
  if (rest !== "") throw new Error("the last line has no end");
}
