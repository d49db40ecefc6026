import { deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MODEL_APIS } from "../../src/gateway/apis/model-apis.ts";
import { sendLine, startProvided, type ProvidedApp, type SentBody } from "../helpers/provider.ts";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import { callsOf, keyOf } from "../helpers/recorded-calls.ts";
import { isLong } from "../helpers/runs.ts";
import { ROOT_KEY, startAppOn, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

/** In front of an upstream that makes responses. */
let test: ProvidedApp;
let made = 0;
let ports: readonly [number, number];
let restarted: TestApp;
const keys: Record<string, string> = { root: ROOT_KEY };
const MODELS = { one: "0198f5e2-0000-7000-8000-0000000000a1", two: "0198f5e2-0000-7000-8000-0000000000b2" };

beforeAll(async () => {
  const settingsOf = (origin: string) => ({
    TRAINING_UPSTREAM_URL: `${origin}/v1`,
    TRAINING_UPSTREAM_API_KEY: "sk-of-the-operator",
    GATEWAY_PASSTHROUGH_PATHS: "/preview,/training,/batches,GET /models",
  });
  test = await startProvided((_asked, response) => {
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
    response.end(JSON.stringify({ id: `resp_made${++made}`, status: "completed", model: "m", usage }));
  }, settingsOf);
  const settings = settingsOf(test.provider.origin);
  restarted = await startAppOn(test.engine, { settings: { ...settings, CHAT_BODY_LIMIT_BYTES: "65536" } });
  await test.engine.insert(
    "training_owners",
    Object.entries(MODELS).map(([project, id]) => ({
      id: id.replaceAll("-", ""),
      project_id: `acme/${project}`,
    })),
    { name: "test" },
  );
  ports = [test.port, Number(new URL(await restarted.app.listen({ host: "127.0.0.1", port: 0 })).port)];
  keys["one"] = await keyOf(test, ["acme/one"]);
  keys["two"] = await keyOf(test, ["acme/two"]);
  keys["both"] = await keyOf(test, ["acme/one", "other/three"]);
});
afterAll(async () => {
  await restarted.close();
  await test.close();
});
beforeEach(() => void test.provider.seen.splice(0));

interface Sent extends SentBody {
  readonly line: string;
  readonly at?: 0 | 1;
}

const JSON_TYPE = "content-type: application/json";

const ask = (key: string, { line, at = 0, ...sent }: Sent): Promise<RawResponse> =>
  sendLine(ports[at], line, keys[key]!, sent);

/** Returns the status, and how many requests have been sent upstream. */
async function outcome(key: string, sent: Sent): Promise<readonly [number, number]> {
  return [(await ask(key, sent)).status, test.provider.seen.length];
}

const FORMS: ReadonlySet<string> = new Set([
  "/audio/transcriptions",
  "/audio/translations",
  "/images/edits",
  "/images/variations",
]);
const ALL = [
  ...MODEL_APIS.map(({ path }) => path),
  "/messages/count_tokens",
  "/responses/input_tokens",
  "/batches",
];
/** One of each kind: with responses of its own, of another provider, with forms, and one that only passes. */
const FEW = ["/responses", "/messages", "/audio/transcriptions", "/batches"];
const PATHS = isLong ? ALL : FEW;

const part = (name: string, value: string, more = ""): string =>
  `--bOuNd\r\nContent-Disposition: form-data; name="${name}"\r\n${more}\r\n${value}\r\n`;
const form = (...parts: readonly string[]): string => `${parts.join("")}--bOuNd--\r\n`;
const FORM_TYPE = "content-type: multipart/form-data; boundary=bOuNd";
const utf32 = (text: string): Buffer =>
  Buffer.concat(Array.from(text, (one) => Buffer.from(Uint32Array.of(one.codePointAt(0)!).buffer)));

type Unread = readonly [
  what: string,
  bodyOf: (text: string) => string | Uint8Array,
  headers?: readonly string[],
];

/** Bodies that only somebody else reads as the JSON, or at all. */
const UNREADABLE: readonly Unread[] = [
  ["UTF-8 with a mark", (text) => `\ufeff${text}`],
  ["UTF-16", (text) => Buffer.from(text, "utf16le")],
  ["UTF-16 with a mark", (text) => Buffer.from(`\ufeff${text}`, "utf16le")],
  ["big-endian UTF-16", (text) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
  ["UTF-32", utf32],
  ["UTF-32 with a mark", (text) => utf32(`\ufeff${text}`)],
  ["invalid UTF-8", (text) => Buffer.from(`${text.slice(0, -1)},"a":"\xff"}`, "latin1")],
  ["a list", (text) => `[${text}]`],
  ["a text", (text) => JSON.stringify(text)],
  ["two documents", (text) => `{}${text}`],
  ["single quotes", (text) => text.replaceAll('"', "'")],
  ["a comment", (text) => `/**/${text}`],
  ["a cut document", (text) => text.slice(0, -1)],
  ["another charset", (text) => text, ["content-type: application/json; charset=utf-16"]],
  ["two charsets", (text) => text, [`${JSON_TYPE}; charset=utf-8; charset=utf-7`]],
  ["plain text", (text) => text, ["content-type: text/plain"]],
  ["form fields", (text) => text, ["content-type: application/x-www-form-urlencoded"]],
  ["bytes", (text) => text, ["content-type: application/octet-stream"]],
  ["a form without boundary", (text) => text, ["content-type: multipart/form-data"]],
  ["JSON called a form", (text) => text, [FORM_TYPE]],
  ["unknown compression", (text) => gzipSync(text), [JSON_TYPE, "content-encoding: lzma"]],
  ["false compression", (text) => text, [JSON_TYPE, "content-encoding: gzip"]],
  ["a compressed mark", (text) => deflateSync(`\ufeff${text}`), [JSON_TYPE, "content-encoding: deflate"]],
];

describe.each(PATHS)("a body to %s", (path) => {
  const line = `POST /v1${path}`;

  it.each(UNREADABLE.map(([what, bodyOf, headers = [JSON_TYPE]]) => ({ what, bodyOf, headers })))(
    "that the gateway cannot read passes for keys of all projects only: $what",
    async ({ bodyOf, headers }) => {
      for (const model of [MODELS.two, "gpt-5"]) {
        const answer = await ask("one", { line, body: bodyOf(JSON.stringify({ model })), headers });
        expect([400, 415]).toContain(answer.status);
        expect(answer.body.toString()).toContain('"invalid_request_error"');
      }
      expect(await outcome("root", { line, body: bodyOf('{"model":"gpt-5"}'), headers })).toEqual([200, 1]);
    },
  );

  it("passes as JSON in UTF-8 that names no foreign model", async () => {
    for (const headers of [[JSON_TYPE], [], ['content-type: Application/JSON; Charset="UTF-8"']])
      for (const model of [MODELS.one, "gpt-5", "\u00e9"])
        expect((await ask("one", { line, body: { model }, headers })).status, headers.join()).toBe(200);
    const packed = { body: gzipSync('{"model":"gpt-5"}'), headers: [JSON_TYPE, "content-encoding: gzip"] };
    expect(await outcome("one", { line, ...packed })).toEqual([200, 10]);
    expect(await outcome("one", { line, body: { model: MODELS.two } })).toEqual([404, 10]);
  });

  it("passes as a form where the endpoint takes one", async () => {
    const headers = [FORM_TYPE];
    const file = part("file", "RIFF\xff", 'Content-Type: audio/webm;codecs="opus"\r\n');
    const fine = [
      form(part("model", "whisper-1"), file.replace('"file"', '"file"; filename="a.webm"')),
      form(part("model", MODELS.one), part("language", "de", "Content-Type: text/plain; charset=utf-8\r\n")),
      form(part("model", "whisper-1").replace('"model"', "model")),
    ];
    for (const body of fine)
      expect((await ask("one", { line, body, headers })).status).toBe(FORMS.has(path) ? 200 : 415);
    expect(test.provider.seen.splice(0)).toHaveLength(FORMS.has(path) ? fine.length : 0);
    const base64 = Buffer.from(MODELS.two).toString("base64");
    const model = part("model", MODELS.two);
    for (const [body, status] of [
      [form(model), 404],
      [form(model, part("model", MODELS.one)), 404],
      [form(part("model", MODELS.one), model), 404],
      [form(model.replace('"model"', "model")), 404],
      [form(model.replace('"model"', '"model"; filename="x"')), 404],
      [form(part("file_id", "file-1")), 404],
      [form(part("image[]", "x"), part("file_ids[]", "file-1")), 404],
      [form(part("model", base64, "Content-Transfer-Encoding: base64\r\n")), 400],
      [form(part("model", MODELS.two, "Content-Type: text/plain; charset=utf-16\r\n")), 400],
      [form(part("_charset_", "utf-7"), part("model", "x")), 400],
      [form(model.replace('name="model"', "name*=utf-8''model")), 400],
      [form(model.replace('"model"', '"x"; name="model"')), 400],
      [form(model.replace(/form-data; .*/, 'form-data;\r\n name="model"')), 400],
      [form(model).replaceAll("\r\n", "\n"), 400],
      [`preamble\r\n${form(model)}`, 400],
      [`${form(part("model", "x"))}${form(model)}`, 400],
      [model, 400],
    ] as const) {
      const got = await outcome("one", { line, body, headers });
      expect([body, ...got]).toEqual([body, FORMS.has(path) ? status : 415, 0]);
    }
  });
});

/** Makes a response as a key. */
async function newResponse(key: string, ...headers: readonly string[]): Promise<string> {
  const body = { model: "m", input: "x" };
  const answer = await ask(key, { line: "POST /v1/responses", body, headers: [JSON_TYPE, ...headers] });
  return (JSON.parse(answer.body.toString()) as { id: string }).id;
}

describe("the response of another project", () => {
  const spellings: readonly ((id: string, own: string) => string)[] = [
    (id) => JSON.stringify({ previous_response_id: id }),
    (id) => String.raw`{"previous\u005fresponse_id":"${id}"}`,
    (id) => `{"previous_response_id":"\\u0072${id.slice(1)}"}`,
    (id, own) => `{"previous_response_id":"${id}","previous_response_id":"${own}"}`,
    (id, own) => `{"previous_response_id":"${own}","previous_response_id":"${id}"}`,
    (id) => `{"Previous_Response_Id":"${id}"}`,
    (id) => `{"previou\u017f_re\u017fpon\u017fe_id":"${id}"}`,
    (id) => JSON.stringify({ input: "x".repeat(5_000_000), previous_response_id: id }),
    (id) => JSON.stringify({ requests: [{ body: { previous_response_id: id } }] }),
  ];
  it("is not found in any body or path, however spelled, nor one that nobody made", async () => {
    const [id, own] = [await newResponse("two"), await newResponse("one")];
    test.provider.seen.splice(0);
    for (const path of PATHS)
      for (const spell of spellings)
        for (const foreign of path === "/responses" ? [id, "resp_unknown"] : [id]) {
          const body = spell(foreign, own);
          if (body.length > 5000 && path !== "/responses") continue;
          const answer = await ask("one", { line: `POST /v1${path}`, body });
          const what = [path, body.slice(0, 99)];
          expect([...what, answer.status, test.provider.seen.length]).toEqual([...what, 404, 0]);
          expect(answer.body.toString()).toContain('"not_found_error"');
        }
    for (const foreign of [id, "resp_unknown"])
      for (const at of [0, 1] as const)
        for (const asked of ["GET :id", "DELETE :id", "POST :id/cancel", "GET :id/input_items"]) {
          const line = asked.replace(" :id", ` /v1/responses/${foreign}`);
          expect([line, ...(await outcome("one", { line, at }))]).toEqual([line, 404, 0]);
        }
  });

  it("passes for keys of the project that made it, after a restart too, and for all projects", async () => {
    const id = await newResponse("both", "x-sumtree-project: acme/one");
    const get = { line: `GET /v1/responses/${id}`, at: 1 } as const;
    await until(async () => (await callsOf(test, "acme/one")).length > 0);
    await until(async () => (await ask("one", get)).status === 200);
    const line = "POST /v1/responses";
    const body = { model: "m", input: [], previous_response_id: id };
    for (const at of [0, 1] as const)
      for (const key of ["one", "both", "root"])
        expect([key, at, (await ask(key, { line, body, at })).status]).toEqual([key, at, 200]);
    expect((await ask("two", { line, body, at: 1 })).status).toBe(404);
  });
});

/** Bodies that name a resource of the provider. */
const KEPT = String.raw`
  {"conversation":"conv_1"}
  {"conversation":{"id":"conv_1"}}
  {"prompt":{"id":"pmpt_1","version":"2"}}
  {"cachedContent":"cachedContents/1"}
  {"tools":[{"fileSearch":{"fileSearchStoreNames":["fileSearchStores/1"]}}]}
  {"contents":[{"parts":[{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/1"}}]}]}
  {"contents":[{"parts":[{"fileData":{"fileUri":"files/1"}}]}]}
  {"contents":[{"parts":[{"fileData":{"fileUri":"gs://bucket/1"}}]}]}
  {"input":[{"type":"item_reference","id":"msg_1"}]}
  {"input":[{"id":"msg_1"}]}
  {"input":[{"id":"msg_1","type":null}]}
  {"input":[{"type":"image_generation_call","id":"ig_1"}]}
  {"input":[{"role":"user","content":[{"type":"input_file","file_id":"file-1"}]}]}
  {"input":[{"role":"user","content":[{"type":"input_image","file_id":"file-1"}]}]}
  {"input":[{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","file_id":"f"}}]}
  {"tools":[{"type":"file_search","vector_store_ids":["vs_1"]}]}
  {"tools":[{"type":"code_interpreter","container":"cntr_1"}]}
  {"tools":[{"type":"code_interpreter","container":{"type":"auto","file_ids":["file-1"]}}]}
  {"tools":[{"type":"shell","environment":{"type":"container_reference","container_id":"cntr_1"}}]}
  {"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file-1"}}]}]}
  {"messages":[{"role":"assistant","audio":{"id":"audio_1"}}]}
  {"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"file_1"}}]}]}
  {"messages":[{"role":"user","content":[{"type":"container_upload","file_id":"file_1"}]}]}
  {"container":"container_1"}
  {"container":{"id":"container_1","skills":[]}}
  {"container":{"skills":[{"type":"custom","skill_id":"skill_1"}]}}
  {"input_file_id":"file-1","endpoint":"/v1/responses","completion_window":"24h"}
  {"requests":[{"custom_id":"a","params":{"container":"container_1"}}]}
  {"training_file":"file-1"}
`;
/** Bodies that name none. */
const OWN = String.raw`
  {"conversation":null,"previous_response_id":null,"container":null,"prompt":"a prompt"}
  {"contents":[{"parts":[{"fileData":{"fileUri":"https://www.youtube.com/watch?v=1"}}]}]}
  {"contents":[{"parts":[{"functionCall":{"name":"f","args":{"file_id":"x","cachedContent":"x"}}}]}]}
  {"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"file_id":"x"}}}]}]}
  {"input":[{"role":"user","content":"x"},{"id":"msg_1","role":"assistant","content":"x"}]}
  {"input":[{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"x"}]}
  {"input":[{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","text":"","annotations":[{"type":"file_citation","file_id":"file-1","index":0}]}]}]}
  {"input":[{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":"{\"file_id\":\"f\"}"}]}
  {"input":[{"type":"function_call_output","call_id":"call_1","output":"{\"file_id\":\"f\"}"}]}
  {"input":[{"id":"ci_1","type":"code_interpreter_call","container_id":"cntr_1","code":"1","outputs":[]}]}
  {"input":[{"id":"fs_1","type":"file_search_call","queries":[],"results":[{"file_id":"file-1","text":"x"}]}]}
  {"input":[{"id":"ig_1","type":"image_generation_call","result":"aW1hZ2U="}]}
  {"input":[{"id":"ws_1","type":"web_search_call","status":"completed"}]}
  {"messages":[{"role":"assistant","tool_calls":[{"id":"call_1","function":{"name":"f","arguments":"{}"}}]}]}
  {"messages":[{"role":"tool","tool_call_id":"call_1","content":"{\"file_id\":\"f\"}"}]}
  {"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"file_id":"x","id":"y"}}]}]}
  {"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}]}
  {"messages":[{"role":"assistant","content":[{"type":"bash_code_execution_output","file_id":"file_1"}]}]}
  {"tools":[{"name":"f","input_schema":{"properties":{"file_id":{"type":"string"},"conversation":{"id":"x"}}}}]}
  {"tools":[{"type":"function","function":{"name":"g","parameters":{"default":{"file_id":"x"}}}}]}
  {"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]}
  {"container":{"skills":[{"type":"anthropic","skill_id":"pptx"}]},"audio":{"voice":"alloy","format":"wav"}}
  {"metadata":{"conversation":"mine","file_id":"mine"}}
`;
const bodiesOf = (lines: string): readonly string[] => lines.trim().split(/\n\s*/);

describe("what a provider keeps", () => {
  it.each(bodiesOf(KEPT))("%s is not found, except by keys of all projects", async (members) => {
    const body = `{"model":"m",${members.slice(1)}`;
    for (const path of PATHS)
      expect([path, ...(await outcome("one", { line: `POST /v1${path}`, body }))]).toEqual([path, 404, 0]);
    const own = [JSON_TYPE, `x-sumtree-key: ${keys["one"]}`, "x-api-key: sk-of-the-client"];
    expect((await ask("root", { line: "POST /v1/responses", body })).status).toBe(200);
    // the provider checks the client's own credentials
    expect((await ask("one", { line: "POST /v1/responses", body, headers: own })).status).toBe(200);
  });

  it.each(bodiesOf(OWN))("differs from what a client sends whole: %s", async (members) => {
    const body = `{"model":"m",${members.slice(1)}`;
    for (const path of PATHS)
      expect([path, (await ask("one", { line: `POST /v1${path}`, body })).status]).toEqual([path, 200]);
  });
});

it("a body of unknown length over the limit is 413", async () => {
  for (const path of ["/chat/completions", "/batches"]) {
    const chunk = `{"model":"${"x".repeat(300_000)}"}`;
    const sent = `${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`;
    const lines = [
      "host: g",
      `authorization: Bearer ${keys["one"]}`,
      JSON_TYPE,
      "transfer-encoding: chunked",
    ];
    const { answer } = sendRaw(ports[1], head(`POST /v1${path} HTTP/1.1`, ...lines), sent);
    expect([path, (await answer).status, test.provider.seen.length]).toEqual([path, 413, 0]);
  }
});
