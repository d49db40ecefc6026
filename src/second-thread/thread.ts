import { parentPort, workerData } from "node:worker_threads";
import { createRoutes } from "./routes.ts";
import type { FromThread, ThreadSettings, ToThread } from "./messages.ts";
import { RemoteWriters } from "./remote-writers.ts";

const port = parentPort!;
const send = (message: FromThread): void => port.postMessage(message);
const writers = new RemoteWriters(send);
const answer = await createRoutes(workerData as ThreadSettings, writers);

port.on("message", (message: ToThread) => {
  if (message.kind !== "request") {
    writers.hear(message);
    return;
  }
  const { job, request } = message;
  void writers
    .during({ job, nowMs: request.nowMs }, () => answer(request))
    .then(
      (said) => send({ ...said, job }),
      (error: unknown) => send({ kind: "broken", job, error }),
    );
});
