import { LRUCache } from "lru-cache";
import type { Project } from "../../shared/project.ts";
import type { CompletionAttributes } from "../recording/recorded-completion.ts";

/** A response of the Responses API that has passed, and the call that it is recorded as. */
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
  /** It has ended, and what it used is recorded. */
  isOver: boolean;
}

const MAX_KNOWN = 50_000;

/** The responses that this process has seen last, by their ids. What it has forgotten is asked of the store. */
export class KnownResponses {
  readonly #known = new LRUCache<string, KnownResponse>({ max: MAX_KNOWN });

  get(id: string): KnownResponse | undefined {
    return this.#known.get(id);
  }

  /** What is recorded of it is not forgotten for a request that is not. */
  note(id: string, response: KnownResponse): void {
    const known = this.#known.get(id);
    if (response.recorded === undefined && known?.upstream === response.upstream) return;
    this.#known.set(id, response);
  }
}

/** Knows what this process does not. */
export interface ResponseMakers {
  /** The one of some upstreams that made a response of a project; undefined if it is none of theirs. Errors: `StorageError`. */
  findMaker(project: Project, responseId: string, upstreams: readonly string[]): Promise<string | undefined>;
}
