import { LRUCache } from "lru-cache";
import type { Project } from "../../shared/project.ts";
import type { CompletionAttributes } from "../recording/recorded-completion.ts";

/** Response of the Responses API seen by this process, and the call it is recorded as. */
export interface KnownResponse {
  readonly upstream: string;
  readonly recorded: RecordedResponse;
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

  put(id: string, response: KnownResponse): void {
    this.#known.set(id, response);
  }
}

/** Store lookup for responses unknown to this process. */
export interface ResponseMakers {
  /**
   * Returns the upstream that created a response of one of the projects; `undefined` if none of `upstreams` did. Throws
   * `StorageError`.
   */
  findMaker(
    projects: readonly Project[],
    responseId: string,
    upstreams: readonly string[],
  ): Promise<string | undefined>;
}
