type Json = Readonly<Record<string, unknown>>;

/** One answer of a provider, and what is to be recorded of it. */
export interface ModelApiCase {
  /** Its number in the list of forty. */
  readonly number: number;
  readonly name: string;
  readonly path: string;
  /** As JSON, or as it is sent. */
  readonly body: Json | Buffer;
  readonly requestHeaders?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body, or the events of a stream. */
  readonly answer: Json | string | readonly string[];
  readonly usage: "exact" | "partial" | "estimated" | "none";
  readonly outcome: "finished" | "error" | "upstream_cut";
  /** Expected `call_usage` by model; omitted models were not used. */
  readonly used: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Expected quantities of the receipt by unit, over all models. */
  readonly lines?: Readonly<Record<string, number>>;
  readonly cost?: number;
  readonly exception?: string;
}

/** An event as servers write it whose events have names. */
export function named(type: string, data: Json = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
