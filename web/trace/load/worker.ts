import { postJson, postNdjson, type RequestOptions } from "../../api/client.ts";
import { ApiError } from "../../api/failure.ts";
import { countOf, idAt, positionOf, type CallTree, type TraceCall } from "../tree/call-tree.ts";
import { NOT_FOUND } from "../tree/text-column.ts";
import { treeOf } from "../tree/tree-of.ts";
import { usageColumnsOf } from "../tree/usage-columns.ts";
import type { WorkerMessage, TraceTask, UsedByCalls } from "./messages.ts";
import { callReader, type CallLine } from "./trace-call.ts";

/** Reads one trace into columns, outside the page's thread: a hundred thousand calls would delay its frames. */
addEventListener("message", ({ data }: MessageEvent<TraceTask>) => {
  answer(data).catch((error: unknown) => {
    tell({ kind: "failed", failure: error instanceof ApiError ? error.failure : { kind: "broken" } });
    if (!(error instanceof ApiError)) reportError(error);
  });
});

async function answer({ questions, caller }: TraceTask): Promise<void> {
  const asking = {
    // it is cancelled by terminating the worker
    signal: new AbortController().signal,
    caller,
    onProgress: (calls: number) => tell({ kind: "progress", calls }),
  };
  const tree = treeOf(await loadCalls(questions, asking));
  tell({ kind: "tree", tree });
  tell({ kind: "used", used: await loadUsed(questions, tree, asking) });
}

async function loadCalls(
  questions: TraceTask["questions"],
  asking: RequestOptions,
): Promise<readonly TraceCall[]> {
  const calls: TraceCall[] = [];
  let read: ((line: CallLine) => TraceCall) | undefined;
  const take = (line: CallLine): void => {
    if (read === undefined) read = callReader(line);
    else calls.push(read(line));
  };
  await postNdjson(questions.calls, take, asking);
  return calls;
}

async function loadUsed(
  questions: TraceTask["questions"],
  tree: CallTree,
  asking: RequestOptions,
): Promise<UsedByCalls> {
  const [total, own] = await Promise.all([
    postJson(questions.total, asking),
    postJson(questions.own, asking),
  ]);
  const ids = Array.from({ length: countOf(tree) }, (_, position) => idAt(tree, position));
  const unfinished = new Uint8Array(ids.length);
  for (const id of total.body.unfinished_call_ids) {
    const position = positionOf(tree, id);
    if (position !== NOT_FOUND) unfinished[position] = 1;
  }
  return {
    total: usageColumnsOf(total.body.call_usage, ids),
    own: usageColumnsOf(own.body.call_usage, ids),
    unfinished,
    truncated: total.truncated || own.truncated,
  };
}

function tell(news: WorkerMessage): void {
  postMessage(news);
}
