import { Agent, request } from "node:http";
import { headersOf, type Target } from "./send.ts";

export interface AskTask extends Target {
  readonly path: string;
  readonly body: object;
}

/** The message to the parent when the whole answer has been read. */
export interface AskResult {
  readonly error: string | null;
}

const agent = new Agent({ keepAlive: true });

process.on("message", (task: AskTask) => {
  const body = Buffer.from(JSON.stringify(task.body));
  const say = (error: string | null): void => void process.send!({ error } satisfies AskResult);
  const options = { method: "POST", agent, headers: headersOf(task, body.length) };
  const sent = request(task.url + task.path, options, (response) => {
    response.on("end", () => say(response.statusCode === 200 ? null : `answered ${response.statusCode}`));
    response.on("error", (error) => say(error.message));
    response.resume();
  });
  sent.on("error", (error) => say(error.message));
  sent.end(body);
});
