import { callerOfTab, announceKeyRefused, type RequestOptions } from "../../api/client.ts";
import { ApiError, type Failure } from "../../api/failure.ts";
import type { CallTree } from "../tree/call-tree.ts";
import { traceQuestions, type WorkerMessage, type TraceTask, type UsedByCalls } from "./messages.ts";
import { takeWorker } from "./start-worker.ts";

export interface LoadedTrace {
  readonly tree: CallTree;
  /** Undefined: not known yet. */
  readonly used: UsedByCalls | undefined;
}

interface Telling {
  readonly asking: RequestOptions;
  readonly show: (trace: LoadedTrace) => void;
}

/** `show` takes the tree as soon as it is there; only then is the usage of its calls asked for, so that a large tree is not delayed. */
export function loadTrace(project: string, traceId: string, { asking, show }: Telling): Promise<LoadedTrace> {
  const { signal, onProgress } = asking;
  const worker = takeWorker();
  const loaded = new Promise<LoadedTrace>((resolve, reject) => {
    let tree: CallTree | undefined;
    worker.addEventListener("message", ({ data: news }: MessageEvent<WorkerMessage>) => {
      if (news.kind === "progress") onProgress?.(news.calls);
      else if (news.kind === "failed") reject(failed(news.failure));
      else if (news.kind === "tree") show({ tree: (tree = news.tree), used: undefined });
      else if (tree !== undefined) resolve({ tree, used: news.used });
    });
    worker.addEventListener("error", () => reject(new ApiError({ kind: "unreachable" })));
    signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
    worker.postMessage({
      questions: traceQuestions(project, traceId),
      caller: callerOfTab(),
    } satisfies TraceTask);
  });
  return loaded.finally(() => worker.terminate());
}

function failed(failure: Failure): ApiError {
  if (failure.kind === "refused" && failure.status === 401) announceKeyRefused();
  return new ApiError(failure);
}
