/** A finished call without a parent, for rows of a forest. */
export const rootRow = {
  parentId: "",
  finished: true,
  inclusive: false,
  selected: true,
  startedAtMs: 0,
} as const;

/** The usage of one request of the LLM `m`, prompt tokens alone. */
export function oneRequest(promptTokens: number) {
  return [
    {
      llm: "m",
      requests: 1,
      promptTokens,
      completionTokens: 0,
      totalTokens: promptTokens,
      cacheReadTokens: 0,
      cacheCreationTokens: 0,
      cacheOutsidePrompt: false,
    },
  ];
}
