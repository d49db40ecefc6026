import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonical, PAYLOADS } from "../helpers/edge-payloads.ts";
import { startApp, type Answer, type TestApp } from "../helpers/start-app.ts";

type Json = Record<string, ReturnType<Answer["json"]>>;

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { RATE_LIMIT_PER_MINUTE: "1000000000" } });
});
afterAll(() => test.close());

async function post(url: string, body: unknown): Promise<Json> {
  const answer = await test.post(url, body);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return answer.json() as Json;
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

describe("a payload", () => {
  it.each(["inputs", "output", "attributes", "summary"])("comes back as it was sent: %s", async (member) => {
    const project = `acme/payload-${member}`;
    const head =
      '"trace_id":"t","op_name":"o","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z"';
    const items = PAYLOADS.map(([sent], index) => `{"id":"p${index}",${head},"${member}":${sent}}`);
    const answer = await post(`/v2/${project}/calls/complete`, `{"batch":[${items.join(",")}]}`);
    expect(answer).toEqual({ rejected: [] });
    const read = await test.post("/calls/stream_query", { project_id: project });
    const found = new Map(linesOf(read.text).map((line) => [/"id":"(p\d+)"/.exec(line)![1], line] as const));
    const wrong = PAYLOADS.flatMap(([sent, expected], index) => {
      const { [member]: value } = JSON.parse(canonical(found.get(`p${index}`) ?? "{}")) as Json;
      if (member === "summary") delete value?.weave;
      const got = JSON.stringify(value);
      return got === canonical(expected) ? [] : [`${sent.slice(0, 80)}: ${got?.slice(0, 80)}`];
    });
    expect(wrong).toEqual([]);
  });
});
