import { parentPort, workerData } from "node:worker_threads";
import { createRoutes } from "./routes.ts";
import type { FromWorker, WorkerSettings, ToWorker } from "./messages.ts";
import { RemoteWriters } from "./remote-writers.ts";

const port = parentPort!;
const send = (message: FromWorker): void => port.postMessage(message);
const writers = new RemoteWriters(send);
const handle = await createRoutes(workerData as WorkerSettings, writers);

port.on("message", (message: ToWorker) => {
  if (message.kind !== "request") {
    writers.onMessage(message);
    return;
  }
  const { job, request } = message;
  void writers
    .during({ job, nowMs: request.nowMs }, () => handle(request))
    .then(
      (reply) => send({ ...reply, job }),
      (error: unknown) => send({ kind: "broken", job, error }),
    );
});
