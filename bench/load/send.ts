import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true });

export interface Target {
  readonly url: string;
  readonly key: string;
}

export function headersOf({ key }: Target, contentLength: number): Record<string, string | number> {
  return {
    authorization: `Basic ${Buffer.from(`api:${key}`).toString("base64")}`,
    "content-type": "application/json",
    "content-length": contentLength,
  };
}

/** Sends JSON over a connection that stays open, and reads the whole answer. Throws unless it is a 200. */
export function send(target: Target, path: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = headersOf(target, body.length);
    const sent = request(target.url + path, { method: "POST", agent, headers }, (response) => {
      let answer = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => (answer += text));
      response.on("end", () =>
        response.statusCode === 200
          ? resolve(answer)
          : reject(new Error(`${path} answered ${response.statusCode}: ${answer.slice(0, 200)}`)),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
