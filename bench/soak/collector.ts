import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ServiceProcess } from "../../test/helpers/service-process.ts";

/** Makes the service collect its garbage, so that a sample shows what is in use. */
export interface Collector {
  collect(): Promise<void>;
  close(): void;
}

/** The option that the service has to be started with: a port. */
export const inspectable = { NODE_OPTIONS: "--inspect-port=127.0.0.1:0" };

/** Through Node's inspector, which listens once the process is sent SIGUSR1. */
export async function openCollector({ child }: ServiceProcess): Promise<Collector> {
  const lines = createInterface({ input: child.stderr });
  child.kill("SIGUSR1");
  const socket = new WebSocket(await inspectorUrl(lines));
  child.stderr.resume();
  await once(socket, "open");
  let asked = 0;
  return {
    async collect() {
      socket.send(JSON.stringify({ id: ++asked, method: "HeapProfiler.collectGarbage" }));
      const [{ data }] = (await once(socket, "message")) as [{ data: string }];
      const answer = JSON.parse(data) as { id: number; result?: object };
      if (answer.id !== asked || answer.result === undefined) throw new Error(`the inspector said: ${data}`);
    },
    close: () => socket.close(),
  };
}

async function inspectorUrl(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const found = /listening on (ws:\S+)/.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  throw new Error("the inspector does not listen");
}
