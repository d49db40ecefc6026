/** Makes a `switch` exhaustive by type: a new kind does not compile until it is handled. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${String(value)}`);
}
