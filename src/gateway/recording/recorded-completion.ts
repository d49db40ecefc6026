import { isJsonObject } from "../../shared/json.ts";

/** One completion that went through the gateway. Instants in milliseconds since the epoch. */
export interface RecordedCompletion {
  readonly callId: string;
  readonly traceId: string;
  readonly parentId: string | null;
  /** The id of the key that asked for it. */
  readonly apiKey: string;
  readonly opName: string;
  readonly threadId: string | undefined;
  readonly userId: string | undefined;
  readonly startedAtMs: number;
  /** Null: it has not ended. */
  readonly endedAtMs: number | null;
  readonly inputs: unknown;
  readonly output: unknown;
  readonly attributes: { readonly sumtree: CompletionAttributes };
  readonly summary: { readonly usage: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  readonly exception: string | null;
  /** What is recorded of one call in several records has a name for each in the journal. Undefined: that of the call. */
  readonly recordId?: string;
  /** The response of the Responses API that it is about. */
  readonly response?: {
    readonly id: string;
    readonly upstream: string;
    /** It was asked for by its id: whether the call that it belongs to is known. */
    readonly sighting?: "known" | "unknown";
  };
}

export interface CompletionAttributes {
  readonly source: "gateway";
  readonly stream: boolean;
  readonly outcome: "finished" | "aborted" | "client_stalled" | "upstream_cut" | "error" | "pending";
  /** "exact": the provider's count; "partial": its count of a part; "estimated": ours, from the text; "none"; nobody's. */
  readonly usage: "exact" | "partial" | "estimated" | "none" | "unmetered";
  readonly upstream: string;
  readonly status: number | null;
  readonly first_byte_ms: number | null;
  readonly request_id: string;
  readonly upstream_request_id?: string;
  /** Who pays, where it is not the key that was sent. */
  readonly billing?: "subscription";
  readonly agent_id?: string;
  readonly parent_agent_id?: string;
  readonly retry_count?: number;
}

/** The name of a record in the journal. */
export function recordIdOf({ recordId, callId }: Pick<RecordedCompletion, "recordId" | "callId">): string {
  return recordId ?? callId;
}

/** What says that content is missing, in inputs as in output. */
const TRUNCATED = { truncated: true };

/** What is always kept of a completion: all but what was asked and said. Its output keeps what tells whose it is. */
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

const NAMES: ReadonlySet<string> = new Set(["id", "model", "service_tier"]);
const MAX_NAME_LENGTH = 512;

function isName([name, value]: [string, unknown]): boolean {
  return NAMES.has(name) && typeof value === "string" && value.length <= MAX_NAME_LENGTH;
}

/** A completion whose inputs are read when it is written. */
export interface EndedCompletion extends Omit<RecordedCompletion, "inputs"> {
  readonly readInputs: () => unknown;
}
