import { callerOfTab, announceKeyRefused, type Asking } from "../../api/ask.ts";
import { AskError, type Failure } from "../../api/failure.ts";
import type { CallTree } from "../columns/call-tree.ts";
import type { TraceNews, TraceTask, UsedByCalls } from "./messages.ts";
import { takeWorker } from "./start-worker.ts";
import { traceQuestions } from "./trace-questions.ts";

export interface LoadedTrace {
  readonly tree: CallTree;
  /** Undefined: not known yet. */
  readonly used: UsedByCalls | undefined;
}

interface Telling {
  readonly asking: Asking;
  readonly show: (trace: LoadedTrace) => void;
}

/** `show` takes the tree as soon as it is there; only then is the usage of its calls asked for, so that a large tree is not delayed. */
export function loadTrace(project: string, traceId: string, { asking, show }: Telling): Promise<LoadedTrace> {
  const { signal, onProgress } = asking;
  const worker = takeWorker();
  const loaded = new Promise<LoadedTrace>((resolve, reject) => {
    let tree: CallTree | undefined;
    worker.addEventListener("message", ({ data: news }: MessageEvent<TraceNews>) => {
      if (news.kind === "progress") onProgress?.(news.calls);
      else if (news.kind === "failed") reject(failed(news.failure));
      else if (news.kind === "tree") show({ tree: (tree = news.tree), used: undefined });
      else if (tree !== undefined) resolve({ tree, used: news.used });
    });
    worker.addEventListener("error", () => reject(new AskError({ kind: "unreachable" })));
    signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
    worker.postMessage({
      questions: traceQuestions(project, traceId),
      caller: callerOfTab(),
    } satisfies TraceTask);
  });
  return loaded.finally(() => worker.terminate());
}

function failed(failure: Failure): AskError {
  if (failure.kind === "refused" && failure.status === 401) announceKeyRefused();
  return new AskError(failure);
}
