import type { ServerResponse } from "node:http";

/**
 * Calls back when an answer is over, sent or not. A client can have left before a handler, or a hook behind the check
 * of its key, runs: "close" has been emitted then and will not come again.
 */
export function whenClosed(response: ServerResponse, action: () => void): void {
  if (response.closed) action();
  else response.once("close", action);
}
