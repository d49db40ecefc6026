import { isJsonObject } from "../../shared/json.ts";

/** Completion relayed by the gateway. Instants in milliseconds since the epoch. */
export interface RecordedCompletion {
  readonly callId: string;
  /** Default: that of the call, else derived from its id. */
  readonly traceId: string | undefined;
  readonly parentId: string | null;
  readonly apiKey: string;
  readonly opName: string;
  readonly threadId: string | undefined;
  readonly userId: string | undefined;
  readonly startedAtMs: number;
  /** Null: still running. */
  readonly endedAtMs: number | null;
  readonly inputs: unknown;
  readonly output: unknown;
  readonly attributes: { readonly sumtree: CompletionAttributes };
  readonly summary: { readonly usage: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  readonly exception: string | null;
  /** Set for the Responses API. */
  readonly response?: ResponseOfCall | undefined;
}

/** A response of the Responses API, by which later requests find its call. */
export interface ResponseOfCall {
  readonly id: string;
  readonly upstream: string;
  /** Retrieved by its id: `known` if a project of the key has created it. */
  readonly retrieved?: "known" | "unknown";
  /** The request may repeat another, whose response then has the same id. */
  readonly mayRepeat?: boolean;
}

export interface CompletionAttributes {
  readonly source: "gateway";
  readonly stream: boolean;
  readonly outcome: "finished" | "aborted" | "client_stalled" | "upstream_cut" | "error" | "pending";
  /** `exact`: provider count; `partial`: provider count of a part; `estimated`: from the text. */
  readonly usage: "exact" | "partial" | "estimated" | "none";
  readonly upstream: string;
  readonly status: number | null;
  readonly first_byte_ms: number | null;
  readonly request_id: string;
  readonly upstream_request_id: string | undefined;
  readonly client_request_id?: string | undefined;
  /** Set if a monthly subscription pays instead of an API key. */
  readonly billing?: "subscription" | undefined;
  readonly agent_id?: string | undefined;
  readonly parent_agent_id?: string | undefined;
  readonly retry_count?: number | undefined;
}

/** Completion whose inputs are read when it is written. */
export interface EndedCompletion extends Omit<RecordedCompletion, "inputs"> {
  readonly readInputs: () => unknown;
}

/** Marker of missing content, in inputs and output. */
const TRUNCATED = { truncated: true };
const NAMES: ReadonlySet<string> = new Set(["id", "model", "service_tier"]);
const MAX_NAME_LENGTH = 512;

/** Drops inputs and output, except the members that identify the response. */
export function withoutContent(completion: EndedCompletion): EndedCompletion {
  const { output } = completion;
  return {
    ...completion,
    readInputs: () => TRUNCATED,
    output: isJsonObject(output)
      ? { ...Object.fromEntries(Object.entries(output).filter(isName)), ...TRUNCATED }
      : output,
  };
}

function isName([name, value]: [string, unknown]): boolean {
  return NAMES.has(name) && typeof value === "string" && value.length <= MAX_NAME_LENGTH;
}
