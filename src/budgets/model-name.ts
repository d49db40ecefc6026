/** Date of a snapshot at the end of a model id: `-2026-03-01`, `-20260301`, `@20260301`. */
const SNAPSHOT = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/** Returns a model id without the date of its snapshot, as requests usually name it. */
export function undated(llm: string): string {
  return llm.replace(SNAPSHOT, "");
}

/** True if a model is the named one, or a snapshot of it. */
export function isModelOf(name: string, llm: string): boolean {
  return llm === name || undated(llm) === name;
}
