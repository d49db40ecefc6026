import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import {
  bearer,
  startGateway,
  startSecondApp,
  UPSTREAM_KEY,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({ upstream: { usageByDefault: false } });
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

const BODY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] });
const PATHS = ["/chat/completions", "/responses", "/preview/training-jobs", "/files"];

interface Posted {
  readonly port: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Posts through the gateway, without following a redirect or decompressing. */
function post(
  path: string,
  { port = test.port, body = BODY, headers = {} }: Partial<Posted> = {},
): Promise<RawResponse> {
  const sent = path.includes("training-jobs") ? '{"model_id":"m","trajectory_groups":[]}' : body;
  const all = {
    ...bearer,
    "openai-project": "acme/as-it-came",
    "content-type": "application/json",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const first = `POST /v1${path} HTTP/1.1`;
  return sendRaw(port, head(first, "host: g", ...lines, `content-length: ${sent.length}`), sent).answer;
}

describe("a compressed response", () => {
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  const choices = [{ index: 0, message: { role: "assistant", content: "Fine." }, finish_reason: "stop" }];
  const whole = JSON.stringify({ id: "c", model: "m", choices, usage });
  const deltas = [{ index: 0, delta: { content: "Fine." }, finish_reason: "stop" }];
  const chunks = [{ choices: deltas }, { choices: [], usage }].map((chunk) => ({
    id: "c",
    model: "m",
    ...chunk,
  }));
  const stream = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map(
    (data) => `data: ${data}\n\n`,
  );
  const asksForUsage = JSON.stringify({
    stream: true,
    stream_options: { include_usage: true },
    messages: [],
  });

  it.each([
    ["body", whole, "application/json", BODY],
    ["stream", stream.join(""), "text/event-stream", asksForUsage],
  ])(
    "passes byte for byte, as the client accepts it, and is recorded: %s",
    async (what, text, type, body) => {
      for (const accepted of ["gzip, br;q=0.5", "zstd", undefined]) {
        const project = `acme/packed-${what}-${accepted?.length ?? 0}`;
        const bytes = gzipSync(text);
        const headers = {
          "content-type": type,
          "content-encoding": "gzip",
          "content-length": String(bytes.length),
        };
        test.upstream.fail({ kind: "bytes", chunks: [bytes], headers, ending: "end" });
        const accepts = accepted === undefined ? {} : { "accept-encoding": accepted };
        const response = await post("/chat/completions", {
          body,
          headers: { ...accepts, "openai-project": project },
        });
        expect(test.upstream.seen.at(-1)!.headers["accept-encoding"]).toBe(accepted);
        expect(response.headers).toMatchObject(headers);
        expect(response.body.equals(bytes)).toBe(true);
        const used = async () =>
          JSON.stringify((await test.post("/trace/usage", { project_id: project })).json());
        await until(async () => (await used()).includes('"completion_tokens":5'));
      }
    },
  );

  it("is not asked for where the gateway edits the stream", async () => {
    const body = '{"model":"m","stream":true,"messages":[]}';
    await post("/chat/completions", { body, headers: { "accept-encoding": "gzip" } });
    expect(test.upstream.seen[0]!.headers["accept-encoding"]).toBe("identity");
  });
});

describe("the operator's key", () => {
  const stars = "*".repeat(UPSTREAM_KEY.length);
  it.each(PATHS)("is masked in headers and errors, of which nothing else changes: %s", async (path) => {
    for (const encoding of ["identity", "gzip"]) {
      for (const key of [UPSTREAM_KEY, "none"]) {
        const plain = `{"error":{"message":"Incorrect API key provided: ${key}."}}`;
        const body = encoding === "gzip" ? gzipSync(plain) : Buffer.from(plain);
        const headers = { "x-ratelimit-reason": key, "content-encoding": encoding };
        test.upstream.fail({ kind: "answer", status: 401, body, headers });
        const response = await post(path);
        const isPacked = response.headers["content-encoding"] === "gzip";
        const got = isPacked ? gunzipSync(response.body) : response.body;
        expect([response.status, got.toString()]).toEqual([401, plain.replace(UPSTREAM_KEY, stars)]);
        expect(response.headers["x-ratelimit-reason"]).toBe(key.replace(UPSTREAM_KEY, stars));
        if (key === "none") expect(response.body.equals(body)).toBe(true);
      }
    }
  });
});

describe("a redirect of an upstream", () => {
  it.each(PATHS)("passes as it is, and is not followed: %s", async (path) => {
    const { url } = test.upstream;
    for (const status of [301, 302, 303, 307, 308]) {
      for (const location of [url + path, `${url}${path}/`, path, "https://elsewhere.example/v1/x?a=1"]) {
        test.upstream.forget();
        test.upstream.fail({ kind: "answer", status, body: "<h1>moved</h1>", headers: { location } });
        const { headers, body, ...response } = await post(path);
        const got = [response.status, headers["location"], body.toString(), test.upstream.seen.length];
        expect(got).toEqual([status, location, "<h1>moved</h1>", 1]);
      }
    }
  });
});

describe("an upstream's URL", () => {
  let app: SecondApp;
  beforeAll(async () => {
    const url = new URL(test.upstream.url);
    url.search = "?api-version=2024-10-21&code=a%2Fb-and-more-of-it";
    url.username = "oper:ator";
    url.password = "pässword";
    app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: url.href, TRAINING_UPSTREAM_API_KEY: "" });
  });
  afterAll(() => app.close());

  it("keeps its query beside the client's, and sends its user and password as Basic credentials", async () => {
    for (const path of ["/chat/completions?a=1&api-version=7", "/files?b"])
      await post(path, { port: app.port });
    const { seen } = test.upstream;
    expect(seen.map(({ url }) => url)).toEqual([
      "/v1/chat/completions?a=1&api-version=7&code=a%2Fb-and-more-of-it",
      "/v1/files?b&api-version=2024-10-21&code=a%2Fb-and-more-of-it",
    ]);
    const credentials = `Basic ${Buffer.from("oper:ator:pässword").toString("base64")}`;
    expect(seen.map(({ headers }) => headers["authorization"])).toEqual([credentials, credentials]);
  });

  it("has a query that is not told in a redirect", async () => {
    const location = `${test.upstream.url}/files/?code=a%2Fb-and-more-of-it`;
    test.upstream.fail({ kind: "answer", status: 307, body: "", headers: { location } });
    const { headers } = await post("/files", { port: app.port });
    expect(headers["location"]).toBe(`${test.upstream.url}/files/?code=${"*".repeat(20)}`);
  });
});
