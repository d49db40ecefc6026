/**
 * A call's claim to report a model request, by the id that its source knows. Of the reports of one request in a project only
 * those of the highest rank count. Reports of one rank all count: these are requests of their own.
 */
export interface RequestReport {
  /** Provider's or client's id of the request, of its completion, or `conversation:` and the id of a conversation. */
  readonly request: string;
  readonly rank: number;
}

/** Ranks of the reports of a request. */
export const REPORT_RANKS = { estimate: 0, log: 1, span: 2, gateway: 3 } as const;
/** Ranks of the reports of a whole conversation: Codex names no request in its logs, and its spans sum up requests. */
export const CONVERSATION_RANKS = { span: 1, log: 2, gateway: 3 } as const;
