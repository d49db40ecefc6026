import { Agent, request } from "node:http";
import { taskOf } from "./in-child.ts";

export interface GetTask {
  readonly url: string;
  readonly count: number;
  readonly atOnce: number;
}

/** Reads a public path again and again, as a browser does. Says how often. */
const { url, count, atOnce } = taskOf<GetTask>();
const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
const headers = { "accept-encoding": "gzip, deflate, br" };
let sent = 0;

function get(): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, headers }, (response) => {
      response.on("end", () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`answered ${response.statusCode}`)),
      );
      response.resume();
    });
    asked.on("error", reject).end();
  });
}

async function client(): Promise<void> {
  while (sent < count) {
    sent += 1;
    await get();
  }
}

await Promise.all(Array.from({ length: atOnce }, client));
agent.destroy();
console.log(JSON.stringify({ sent }));
