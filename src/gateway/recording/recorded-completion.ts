/** One completion that went through the gateway. Instants in milliseconds since the epoch. */
export interface RecordedCompletion {
  readonly callId: string;
  readonly traceId: string;
  readonly parentId: string | null;
  /** The id of the key that asked for it. */
  readonly apiKey: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly inputs: unknown;
  readonly output: unknown;
  readonly attributes: { readonly sumtree: CompletionMarks };
  readonly summary: { readonly usage: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  readonly exception: string | null;
}

export interface CompletionMarks {
  readonly source: "gateway";
  readonly stream: boolean;
  readonly outcome: "finished" | "aborted" | "client_stalled" | "upstream_cut" | "error";
  /** "exact": the provider's count; "partial": its count of a part; "estimated": ours, from the text; "none". */
  readonly usage: "exact" | "partial" | "estimated" | "none";
  readonly upstream: string;
  readonly status: number | null;
  readonly first_byte_ms: number | null;
  readonly request_id: string;
}

/** A completion whose inputs are read when it is written. */
export interface EndedCompletion extends Omit<RecordedCompletion, "inputs"> {
  readonly readInputs: () => unknown;
}
