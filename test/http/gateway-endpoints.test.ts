import fc from "fast-check";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { head, sendRaw } from "../helpers/raw-http.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, startSecondApp, type SecondApp, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

const RUNS = runs(100, 1000);
const { seed } = seededRandom();

const BODY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] });
const COMPLETION = JSON.stringify({
  id: "c",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
});

let test: TestGateway;
let app: SecondApp;
let upstream: Server;
/** The targets that the upstream was sent. */
let seen: string[] = [];

beforeAll(async () => {
  test = await startGateway();
  upstream = createServer((request, response) => {
    seen.push(request.url!);
    request.resume();
    response.setHeader("content-type", "application/json").end(COMPLETION);
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const { port } = upstream.address() as AddressInfo;
  app = await startSecondApp(test, {
    TRAINING_UPSTREAM_URL: `http://127.0.0.1:${port}/api/v1`,
    // the default
    GATEWAY_PASSTHROUGH_PATHS: "",
  });
});
afterAll(async () => {
  await app.close();
  upstream.closeAllConnections();
  upstream.close();
  await test.close();
});

const odd = fc.constantFrom(
  "",
  "",
  "",
  "",
  ";x=1",
  ".",
  "%20",
  "%2e",
  "%00",
  "%3Bx",
  "%3Fx",
  "%23",
  ".json",
  "%09",
  ";%2Fx",
  "%3F/x",
  ";x/",
);
const slash = fc.constantFrom("/", "/", "/", "//", "%2F", "%2f", "\\", "%5C", "%252F", "/;y/", "/%2F");
const letters = (word: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(word.length - 1), fc.constantFrom("as it is", "upper", "escaped", "twice"))
    .map(([at, how]) => {
      const letter = word[at]!;
      const code = letter.charCodeAt(0).toString(16);
      const written = {
        "as it is": letter,
        upper: letter.toUpperCase(),
        escaped: `%${code}`,
        twice: `%25${code}`,
      };
      return word.slice(0, at) + written[how] + word.slice(at + 1);
    });
const targets = fc
  .record({
    before: fc.constantFrom("", "", "", "deployments/gpt%2F4/", "v1/", "api%2Fv1/"),
    chat: letters("chat"),
    afterChat: odd,
    slash,
    completions: letters("completions"),
    afterCompletions: odd,
    end: fc.constantFrom("", "", "/", "//", "%2F", "?x=1", "/;z"),
  })
  .map(
    (one) =>
      `/v1/${one.before}${one.chat}${one.afterChat}${one.slash}${one.completions}${one.afterCompletions}${one.end}`,
  );

const project = "acme/endpoints";

async function send(target: string, method = "POST"): Promise<Readonly<Record<string, string>>> {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "host: x",
    `authorization: Bearer ${ROOT_KEY}`,
    "connection: close",
    `openai-project: ${project}`,
    "content-type: application/json",
    `content-length: ${BODY.length}`,
  ];
  return (await sendRaw(app.port, head(...lines), BODY).answer).headers;
}

describe(`a path that some server reads as the chat path (seed ${seed})`, () => {
  it("is the chat endpoint and recorded, or does not reach the upstream", async () => {
    const recorded = new Set<string>();
    const methods = fc.constantFrom("POST", "POST", "GET", "DELETE", "PUT", "OPTIONS", "HEAD");
    const property = fc.asyncProperty(targets, methods, async (target, method) => {
      seen = [];
      const { "x-sumtree-call-id": id } = await send(target, method);
      if (id !== undefined) recorded.add(id);
      const paths = seen.map((one) => one.split("?", 1)[0]);
      expect(paths).toEqual(id === undefined ? [] : ["/api/v1/chat/completions"]);
    });
    await fc.assert(property, { seed, numRuns: RUNS });

    const question = { project_id: project, limit: 1_000_000 };
    const usage = async (): Promise<Record<string, Record<string, { total_tokens: number }>>> =>
      ((await test.post("/trace/usage", question)).json() as { call_usage: never }).call_usage;
    await until(async () => Object.keys(await usage()).length >= recorded.size);
    expect(
      Object.entries(await usage()).filter(
        ([id, used]) => !recorded.has(id) || used["m"]?.total_tokens !== 4,
      ),
    ).toEqual([]);
  });

  it.each([
    "/v1/chat/completions",
    "/v1/chat/completions/",
    "/v1//chat///completions//",
    "/v1/%63hat/complet%69ons",
    "/v1/Chat/COMPLETIONS",
    "http://elsewhere.example/v1/chat/completions",
  ])("%s is recorded, and sent to the declared path", async (target) => {
    seen = [];
    expect((await send(target))["x-sumtree-call-id"]).toBeDefined();
    expect(seen).toEqual(["/api/v1/chat/completions"]);
  });
});
