import { LRUCache } from "lru-cache";
import type { Project } from "../../shared/project.ts";
import type { CompletionAttributes } from "../recording/recorded-completion.ts";

/** Response of the Responses API seen by this process, and the call it is recorded as. */
export interface KnownResponse {
  readonly upstream: string;
  readonly recorded: RecordedResponse | undefined;
}

export interface RecordedResponse {
  readonly project: Project;
  readonly callId: string;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly apiKey: string;
  readonly startedAtMs: number;
  readonly marks: CompletionAttributes;
  /** Prompt size in bytes of text, if pending and known. */
  readonly promptBytes: number | undefined;
  /** Its end and usage are recorded. */
  isOver: boolean;
}

const MAX_KNOWN = 50_000;

/** LRU cache of recent responses by id. Evicted ones are looked up in the store. */
export class KnownResponses {
  readonly #known = new LRUCache<string, KnownResponse>({ max: MAX_KNOWN });

  get(id: string): KnownResponse | undefined {
    return this.#known.get(id);
  }

  /** Stores a response; a recorded entry is not replaced by an unrecorded one of the same upstream. */
  put(id: string, response: KnownResponse): void {
    const known = this.#known.get(id);
    if (response.recorded === undefined && known?.upstream === response.upstream) return;
    this.#known.set(id, response);
  }
}

/** Store lookup for responses unknown to this process. */
export interface ResponseMakers {
  /**
   * Returns the upstream that created a response of a project; `undefined` if none of `upstreams` did. Throws
   * `StorageError`.
   */
  findMaker(project: Project, responseId: string, upstreams: readonly string[]): Promise<string | undefined>;
}
