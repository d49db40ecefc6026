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
  app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: `http://127.0.0.1:${port}/api/v1` });
});
afterAll(async () => {
  await app.close();
  upstream.closeAllConnections();
  upstream.close();
  await test.close();
});

/** What some server is known to do to a path before it looks for a route. */
const HABITS: Readonly<Record<string, (path: string) => string>> = {
  decodes: (path) =>
    path.replaceAll(/%([\da-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  "joins slashes": (path) => path.replaceAll(/\/+/g, "/"),
  "takes a backslash for a slash": (path) => path.replaceAll("\\", "/"),
  "ignores case": (path) => path.toLowerCase(),
  "drops parameters of segments": (path) => path.replaceAll(/;[^/]*/g, ""),
  "drops a final slash": (path) => path.replace(/\/+$/, ""),
  "drops final dots and spaces": (path) => path.replaceAll(/[. ]+(?=\/|$)/g, ""),
  "drops an extension": (path) => path.replace(/\.\w+$/, ""),
  "ends at a null": (path) => path.split("\0", 1)[0]!,
  "ends at a question mark": (path) => path.split(/[?#]/, 1)[0]!,
};
const habits = fc.array(fc.constantFrom(...Object.keys(HABITS)), { maxLength: 10 });

/** Whether a server with these habits, in this order, takes it for chat. */
function isChatFor(target: string, its: readonly string[]): boolean {
  const path = its.reduce((read, habit) => HABITS[habit]!(read), target.split("?", 1)[0]!);
  return path.endsWith("/chat/completions");
}

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

const project = "acme/doors";

async function post(target: string): Promise<Readonly<Record<string, string>>> {
  const lines = [
    `POST ${target} HTTP/1.1`,
    "host: x",
    `authorization: Bearer ${ROOT_KEY}`,
    `openai-project: ${project}`,
    "content-type: application/json",
    `content-length: ${BODY.length}`,
  ];
  return (await sendRaw(app.port, head(...lines), BODY).answer).headers;
}

describe(`a spelling that some server takes for chat (seed ${seed})`, () => {
  it("is recorded, or does not reach the upstream", async () => {
    const recorded = new Set<string>();
    const property = fc.asyncProperty(targets, habits, async (target, its) => {
      seen = [];
      const { "x-sumtree-call-id": id } = await post(target);
      if (id !== undefined) recorded.add(id);
      const escaped = id === undefined && seen.some((one) => isChatFor(one, its));
      expect({ escaped, times: seen.length > 1 }).toEqual({ escaped: false, times: false });
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
    ["/v1//chat///completions//", "/chat/completions"],
    ["/v1/%63hat/complet%69ons", "/chat/completions"],
    ["/v1/chat%2Fcompletions", "/chat%2Fcompletions"],
    ["/v1/chat%252Fcompletions", "/chat%252Fcompletions"],
    ["/v1/chat/completions;x=1", "/chat/completions;x=1"],
    ["/v1/Chat/Completions", "/Chat/Completions"],
    [
      "/v1/deployments/gpt%2F4/chat/completions?api-version=1",
      "/deployments/gpt%2F4/chat/completions?api-version=1",
    ],
  ])("%s is recorded, and sent as %s", async (target, sent) => {
    seen = [];
    expect((await post(target))["x-sumtree-call-id"]).toBeDefined();
    expect(seen).toEqual([`/api/v1${sent}`]);
  });
});
