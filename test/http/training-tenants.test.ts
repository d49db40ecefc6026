import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import { faultyEngine } from "../helpers/faulty-engine.ts";
import { sendLine, startProvided, type ProvidedApp, type SentBody } from "../helpers/provider.ts";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import { keyOf } from "../helpers/recorded-calls.ts";
import { authorization, ROOT_KEY, startAppOn, type TestApp } from "../helpers/start-app.ts";

let made = 0;
const newId = (): string => `0198f5e2-ab00-7000-8000-${String(++made).padStart(12, "0")}`;

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** Breaks the connection after the body. */
  readonly isCut?: boolean;
}

interface Seen {
  readonly line: string;
  readonly body: string;
}

/** An upstream that answers as it is told, with `{"id": …}` of a new thing otherwise. */
let test: ProvidedApp;
let answers: Answer[] = [];
let seen: Seen[] = [];
/** Requests that began, also those without their end. */
let begun = 0;
/** A second service on the same store. */
let other: TestApp;
let ports: readonly [number, number];
let settings: Record<string, string>;
const keys: Record<string, string> = { root: ROOT_KEY };

const PROJECTS = {
  one: ["acme/one"],
  two: ["acme/two"],
  acme: ["acme/*"],
  both: ["acme/one", "other/three"],
  third: ["other/three"],
};

beforeAll(async () => {
  const settingsOf = (origin: string) => ({
    TRAINING_UPSTREAM_URL: `${origin}/v1`,
    GATEWAY_PASSTHROUGH_PATHS: "/",
  });
  test = await startProvided(({ method, url, headers, body }, response) => {
    if (isOfLedger(url)) {
      response.end(NO_ITEMS);
      return;
    }
    const isPacked = headers["content-encoding"] === "gzip";
    seen.push({ line: `${method} ${url}`, body: (isPacked ? gunzipSync(body) : body).toString("utf8") });
    const next = answers.shift() ?? { body: JSON.stringify({ id: newId() }) };
    const isCut = next.isCut === true;
    response.writeHead(next.status ?? 200, { ...(isCut && { "content-length": "9999" }), ...next.headers });
    if (isCut) response.write(next.body, () => response.destroy());
    else response.end(next.body);
  }, settingsOf);
  test.provider.server.on("request", ({ url }) => (begun += Number(!isOfLedger(url!))));
  settings = settingsOf(test.provider.origin);
  other = await startAppOn(test.engine, { settings });
  ports = [test.port, Number(new URL(await other.app.listen({ host: "127.0.0.1", port: 0 })).port)];
  for (const [name, projects] of Object.entries(PROJECTS)) keys[name] = await keyOf(test, projects);
});
afterAll(async () => {
  await other.close();
  await test.close();
});
beforeEach(() => {
  answers = [];
  seen = [];
  begun = 0;
});

interface Sent extends SentBody {
  /** The service: 0 or 1. */
  readonly at?: 0 | 1;
}

function ask(key: string, line: string, { body, headers = [], at = 0 }: Sent = {}): Promise<RawResponse> {
  const [method, path = ""] = line.split(" ");
  const whole = `${method} ${/^(?:\/v1|http)/.test(path) ? path : `/v1/preview${path}`}`;
  return sendLine(ports[at], whole, keys[key]!, {
    body,
    headers: ["content-type: application/json", ...headers],
  });
}

/** True for what the ledger of jobs reads by itself. */
const isOfLedger = (url: string): boolean =>
  /\/checkpoints\?order=desc&limit=1$|\/events\?limit=100$/.test(url);
const NO_ITEMS = '{"object":"list","data":[],"first_id":"","last_id":"","has_more":false}';
const RL = "POST /training-jobs";
const model = { project: "one", name: "agent", base_model: "b" };
const json = (response: RawResponse): unknown => JSON.parse(response.body.toString("utf8"));
const idOf = (response: RawResponse): string => (json(response) as { id: string }).id;

async function newModel(key: string, body: object = {}, headers: readonly string[] = []): Promise<string> {
  const project = key === "one" || key === "both" ? "one" : key === "third" ? "three" : "two";
  const made = await ask(key, "POST /models", { body: { ...model, project, ...body }, headers });
  expect(made.status).toBe(200);
  return idOf(made);
}

/** Status of a read of a model. */
async function statusOf(key: string, id: string, at: 0 | 1 = 0): Promise<number> {
  return (await ask(key, `GET /models/${id}/checkpoints`, { at })).status;
}

async function newJob(key: string, modelId: string): Promise<string> {
  return idOf(await ask(key, RL, { body: { model_id: modelId, trajectory_groups: [] } }));
}

/** Routes of things with an id, with a body that they take. */
const ROUTES: readonly (readonly [line: string, kind: "model" | "job", body?: object])[] = [
  ["DELETE /models/:id", "model"],
  ["GET /models/:id/checkpoints", "model"],
  ["GET /models/:id/checkpoints?limit=1&order=desc", "model"],
  ["DELETE /models/:id/checkpoints", "model", { steps: [1] }],
  ["POST /models/:id/log", "model", { split: "train", trajectory_groups: [] }],
  ["GET /training-jobs/:id", "job"],
  ["GET /training-jobs/:id/events", "job"],
];

let ids: Promise<Record<"model" | "job", string>> | undefined;

describe.each(ROUTES.map(([line, kind, body]) => ({ line, kind, body })))("$line", ({ line, kind, body }) => {
  let id: string;
  beforeAll(async () => {
    ids ??= newModel("one").then(async (of) => ({ model: of, job: await newJob("one", of) }));
    id = (await ids)[kind];
  });
  const send = (key: string, as: string, at: 0 | 1 = 0): Promise<RawResponse> =>
    ask(key, line.replace(":id", as), { body, at });

  it("passes unchanged for keys of its project, on every service, and is 404 for others as if unknown", async () => {
    const bytes = '{"seed": 9223372036854775807, "loss":1.0, "a":"\\u0041","a":null}';
    answers = Array.from({ length: 4 }, () => ({ body: bytes }));
    const whose = [...(["one", "both", "root"] as const).entries()];
    for (const [at, key] of whose) {
      const answer = await send(key, id, at === 0 ? 0 : 1);
      expect([answer.status, answer.body.toString()]).toEqual([200, bytes]);
    }
    expect((await send("one", id.toUpperCase())).status).toBe(200);
    expect((await send("root", newId())).status).toBe(200);
    const sent = line.replace(" ", " /v1/preview").replace(":id", id);
    expect(seen.splice(0).slice(0, 3)).toMatchObject(whose.map(() => ({ line: sent })));

    for (const spelling of [id, id.toUpperCase(), `%7B${id}%7D`, id.replaceAll("-", "")]) {
      const answer = await send(spelling === id ? "third" : "two", spelling);
      expect([spelling, answer.status]).toEqual([spelling, 404]);
    }
    const foreign = await send("two", id, 1);
    expect([foreign.status, json(foreign)]).toEqual([404, json(await send("two", newId(), 1))]);
    expect(seen).toEqual([]);
  });

  it("takes no query, and no body where it has none, except from keys of all projects", async () => {
    const asked = [line.replace(":id", id), line.includes("?") ? "&" : "?"].join("");
    for (const [key, status] of [
      ["root", 200],
      ["one", 422],
    ] as const) {
      for (const query of ["job=1", `model_id=${id}`, `%69ds=${id}`])
        expect((await ask(key, `${asked}${query}`, { body })).status).toBe(status);
      if (body === undefined)
        expect((await ask(key, line.replace(":id", id), { body: {} })).status).toBe(status);
    }
    expect(seen).toHaveLength(body === undefined ? 4 : 3);
    expect((await ask("two", `${asked}after=${id}`, { body })).status).toBe(404);
    expect((await ask("one", `${asked}after=${newId()}&project=one`, { body })).status).toBe(200);
  });
});

/** A model of project one, and of project two. */
let models: Promise<readonly [one: string, two: string]> | undefined;
async function twoModels(): Promise<readonly [one: string, two: string]> {
  models ??= Promise.all([newModel("one"), newModel("two")]);
  const both = await models;
  [seen, begun] = [[], 0];
  return both;
}

/** Paths that the interface does not have. */
const OTHERS =
  "GET /models/:id/export|PATCH /models/:id/export|HEAD /models/:id/export|POST /training-jobs/:id/cancel|" +
  "GET /sft-training-jobs/:id|GET /jobs/latest|GET /anything/:id|POST /anything|PUT /anything|DELETE /anything|" +
  "GET /v1/training/runs/:id|POST /v1/training/runs:resolve|POST /v1/%2554raining/runs|GET /v1/%20preview/jobs|" +
  "GET /v1/preview%2Fjobs|GET /v1/preview%2Fmodels%2F:id%2Fx|GET /v1/preview%252Fmodels%252F:id|GET /v1/Preview/Models/:id|" +
  "GET /v1/preview%5Cmodels%5C:id|GET /models/:own/models/:id|GET /models/:id/models/:own";

it.each(OTHERS.split("|"))("%s is no route but for keys of all projects, whatever it names", async (line) => {
  const [own, id] = await twoModels();
  const body = line.startsWith("P") ? {} : undefined;
  const send = (key: string) => ask(key, line.replace(":id", id).replace(":own", own), { body });
  for (const key of ["one", "acme"]) expect([(await send(key)).status, seen]).toEqual([404, []]);
  expect([(await send("root")).status, seen.length]).toEqual([200, 1]);
});

const fullWidth = (id: string): string =>
  encodeURIComponent(id.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))));

it.each<[string, (id: string) => string]>([
  [
    "an escaped digit",
    (id) => `/v1/preview/models/%${id.charCodeAt(0).toString(16)}${id.slice(1)}/checkpoints`,
  ],
  ["parameters", (id) => `/v1/preview/models/${id};a=1/checkpoints`],
  ["doubled slashes", (id) => `/v1//preview///models//${id}/checkpoints`],
  ["an absolute form", (id) => `http://x/v1/preview/models/${id}/checkpoints`],
  ["full-width digits", (id) => `/v1/preview/models/${fullWidth(id)}/checkpoints`],
  ["a model to ask", (id) => `/v1/models/${id}`],
])("a path with %s does not reach a foreign model", async (_what, spell) => {
  const path = spell((await twoModels())[0]);
  expect([(await ask("two", `GET ${path}`)).status, seen]).toEqual([404, []]);
});

describe("a body", () => {
  const long = "x".repeat(8.1 * 1024 * 1024);
  const SFT = "POST /sft-training-jobs";
  const base = '{"project":"two","name":"n","base_model":';
  it.each([
    ["an SFT job", SFT, '{"model_id":"ID","training_data_url":"x"}'],
    ["an RL job", RL, '{"model_id":"ID","trajectory_groups":[]}'],
    ["an RL job behind its data", RL, `{"trajectory_groups":["${"y".repeat(100_000)}"],"model_id":"ID"}`],
    ["an RL job, in capitals", RL, '{"model_id":"CAPITALS"}'],
    ["an RL job, escaped", RL, String.raw`{"\u006dodel_id":"ESCAPED"}`],
    ["an RL job, as the last of two", RL, '{"model_id":"OWN","a":{"model_id":1},"model_id":"ID"}'],
    ["an RL job with a byte order mark", RL, '\ufeff{"model_id":"ID"}'],
    ["a long RL job", RL, `{"model_id":"ID","trajectory_groups":["${long}"]}`],
    ["a reference", RL, '{"model_id":"OWN","experimental_config":{"a":NaN,"kl":[{"of":"ID"}]}}'],
    ["a log", "POST /models/OWN/log", '{"split":"train","model_id":"ID"}'],
    ["a base model", "POST /models", `${base}"ID"}`],
    ["a list", "POST /models", `${base}"b","more":[["x",{"y":"CAPITALS"}]]}`],
  ])("of %s that names a foreign model is 404, and nothing goes upstream", async (_what, line, template) => {
    const [id, own] = await twoModels();
    const send = (named: string) => {
      const escaped = String.raw`\u00${named.charCodeAt(0).toString(16)}${named.slice(1)}`;
      const spelled = template.replace("CAPITALS", named.toUpperCase()).replace("ESCAPED", () => escaped);
      return ask("two", line.replace("OWN", own), { body: spelled.replace("OWN", own).replace("ID", named) });
    };
    const answer = await send(id);
    expect([answer.status, begun]).toEqual([404, 0]);
    expect(json(answer)).toMatchObject({ detail: expect.stringMatching(/not found\.$/) });
    expect((await send(own)).status).toBe(200);
  });

  it("that is longer than what is held never arrives whole if it names a foreign model", async () => {
    const [id, own] = await twoModels();
    const chunked = (body: string) => {
      const chunk = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      const lines = ["host: g", `authorization: Bearer ${keys["two"]}`, "transfer-encoding: chunked"];
      return sendRaw(ports[0], head("POST /v1/preview/training-jobs HTTP/1.1", ...lines), chunk).answer;
    };
    const whole = (body: string) => ask("two", RL, { body });
    for (const [send, data] of [
      [whole, long],
      [chunked, "x".repeat(300_000)],
      [chunked, ""],
    ] as const) {
      for (const first of data === long ? [""] : ["", `"model_id":"${own}",`]) {
        expect((await send(`{${first}"data":"${data}","model_id":"${id}"}`)).status).toBe(404);
        expect(seen).toEqual([]);
      }
      const fine = `{"data":"${data}","model_id":"${own}"}`;
      expect((await send(fine)).status).toBe(200);
      expect(seen.splice(0).map(({ body }) => body === fine)).toEqual([true]);
    }
  });

  it.each([
    ["UTF-16", (id: string) => Buffer.from(`\ufeff{"model_id":"${id}"}`, "utf16le"), 400],
    ["a list", (id: string) => `[{"model_id":"${id}"}]`, 400],
    ["a cut object", (id: string) => `{"model_id":"${id}"`, 400],
    ["two objects", (id: string) => `{"model_id":"${id}"}{}`, 400],
    ["nothing", () => undefined, 422],
    ["no model", () => "{}", 422],
    ["a model that is no text", () => '{"model_id":1}', 422],
    ["an endless name", (id: string) => `{"model_id":"${"-".repeat(70_000)}${id}"}`, 400],
    ["unknown compression", (id: string) => gzipSync(gzipSync(`{"model_id":"${id}"}`)), 400],
  ])("of %s is rejected", async (_what, bodyOf, status) => {
    const [, own] = await twoModels();
    expect([(await ask("two", RL, { body: bodyOf(own) })).status, begun]).toEqual([status, 0]);
  });

  it("is decompressed to check it", async () => {
    const [id, own] = await twoModels();
    for (const [body, status] of [
      [`{"model_id":"${id}"}`, 404],
      [`{"model_id":"${own}"}`, 200],
      [`{"model_id":"${own}","a":"${long}"}`, 415],
    ] as const) {
      const sent = { body: gzipSync(body), headers: ["content-encoding: gzip"] };
      expect((await ask("two", RL, sent)).status).toBe(status);
    }
    expect(seen.at(-1)!.body).toBe(`{"model_id":"${own}"}`);
  });
});

describe("what is created", () => {
  it("belongs to the project of the header, that of the body, or that of its model", async () => {
    const headers = ["openai-project: acme/two"];
    const id = await newModel("root", {}, ["x-sumtree-project: acme/two"]);
    const named = await newModel("acme", { entity: null, project: "two" });
    const rooted = await newModel("root", { entity: "acme", project: "two" });
    const job = idOf(await ask("acme", RL, { body: { model_id: id }, headers }));
    const jobs = [job, await newJob("acme", named)].map((made) => `/training-jobs/${made}`);
    for (const path of [...[id, named, rooted].map((made) => `/models/${made}/checkpoints`), ...jobs]) {
      expect((await ask("two", `GET ${path}`)).status).toBe(200);
      for (const key of ["one", "third"]) expect((await ask(key, `GET ${path}`)).status).toBe(404);
    }
  });

  it("needs a project if the key has several; without one, only a key of all projects creates it", async () => {
    const nameless = await ask("both", "POST /models", { body: model });
    expect([nameless.status, seen]).toEqual([400, []]);
    expect(nameless.body.toString()).toContain("x-sumtree-project");
    const made = idOf(await ask("root", RL, { body: { model_id: newId() } }));
    expect((await ask("root", `GET /training-jobs/${made}`)).status).toBe(200);
    expect((await ask("acme", `GET /training-jobs/${made}`)).status).toBe(404);
  });

  it("stays with its first project, also if the upstream returns it to another one", async () => {
    const id = await newModel("one");
    answers = [{ body: JSON.stringify({ id }), headers: { location: "/v1/preview/secret", etag: id } }];
    const stolen = await ask("third", "POST /models", { body: { ...model, project: "three" } });
    expect([stolen.status, stolen.body.includes(id)]).toEqual([404, false]);
    expect(stolen.headers).toMatchObject({ "x-should-retry": "false" });
    expect(stolen.headers).not.toHaveProperty("location");
    answers = [{ body: `{"id":"${id.toUpperCase()}"}` }];
    expect((await ask("one", "POST /models", { body: model })).status).toBe(200);
    expect([await statusOf("third", id), await statusOf("one", id)]).toEqual([404, 200]);
  });

  it("is an error without its end: nobody owns what the upstream may have made", async () => {
    const id = newId();
    answers = [{ body: `{"id":"${id}"`, isCut: true }];
    const cut = await ask("one", "POST /models", { body: model });
    expect([cut.status, cut.headers["x-should-retry"], cut.complete]).toEqual([502, "false", true]);
    expect(await statusOf("one", id)).toBe(404);
    for (const [answer, status] of [
      [{ body: "made", headers: { "content-type": "text/plain" } }, 502],
      [{ body: '{"id":"' }, 502],
      [{ status: 409, body: '{"detail":"A model with that name exists"}' }, 409],
    ] as const) {
      answers = [answer];
      expect((await ask("one", "POST /models", { body: model })).status).toBe(status);
    }
    // an upstream that returns what exists makes it theirs
    answers = [{ body: `{"id":"${id}"}` }];
    await ask("one", "POST /models", { body: { ...model, return_existing: true } });
    expect(await statusOf("one", id)).toBe(200);
  });

  it("is 503 if the ledger cannot be written, and belongs to nobody", async () => {
    const id = newId();
    const wrapEngine = (engine: Engine) =>
      faultyEngine(engine, (name) => (name === "training_owners_add" ? "refused" : "done"));
    const gone = await startAppOn(test.engine, { settings, wrapEngine });
    answers = [{ body: `{"id":"${id}"}` }];
    const made = await gone.post("/v1/preview/models", model, { key: keys["one"]!, scheme: "bearer" });
    expect([made.status, made.headers["x-should-retry"]]).toEqual([503, "false"]);
    expect(made.text).not.toContain(id);
    await gone.close();
    expect(await statusOf("one", id)).toBe(404);
  });

  it("passes as it came", async () => {
    const id = newId();
    const body = gzipSync(`{ "id" : "${id}", "n":1.0 }`);
    answers = [{ body, headers: { "content-encoding": "gzip" } }];
    const made = await ask("one", "POST /models", { body: model });
    expect([made.headers["content-encoding"], made.body.equals(body)]).toEqual(["gzip", true]);
    expect([await statusOf("two", id), await statusOf("one", id)]).toEqual([404, 200]);
  });

  it("is nobody's after its project was deleted", async () => {
    const id = await newModel("third");
    const headers = { authorization: authorization() };
    const deleted = await test.app.inject({ method: "DELETE", url: "/projects/other/three", headers });
    expect(deleted.statusCode).toBe(202);
    expect([await statusOf("third", id), await statusOf("third", id, 1)]).toEqual([404, 404]);
  });
});

describe("a list", () => {
  it("leaves out what is foreign or unknown, and keeps how numbers are written", async () => {
    const [a, b, foreign] = [await newModel("one"), await newModel("one"), await newModel("two")];
    const escaped = String.raw`\u00${b.charCodeAt(0).toString(16)}${b.slice(1)}`;
    const items = [
      `{"id":"${foreign}","x":1}`,
      `{"id":"${a}","loss":1.0,"seed":9223372036854775807,"n":[-0.50,1e400,NaN,-Infinity],"t":"1.0,[],{}\\""}`,
      `{"id":"${foreign}","id":"${escaped}","e":1E5}`,
      `{"id":"${a}","id":"${foreign}"}`,
      `{"id":"${newId()}"}`,
      String.raw`{"a":0,"\\":1,"\u0069d":"${foreign}"}`,
      `{"id":"${a}","model_id":"${foreign}"}`,
      `{"id":"${a}","of":[{"deep":["${foreign.toUpperCase()}"]}]}`,
      `"plain"`,
      `"${foreign}"`,
      `7.0`,
    ];
    const page = (all: readonly string[], first: string, last: string) =>
      `{"object":"list","__proto__":[],"data":[${all.join()}],"first_id":"${first}","last_id":"${last}","has_more":true,"z":1.50}`;
    const whole = page(items, foreign, foreign);
    const kept = [items[1]!, `{"id":"${b}","e":1E5}`, `"plain"`, "7.0"];
    // numbers beyond doubles are ids too
    const owned = { id: "9223372036854775806", project_id: "acme/one" };
    await test.engine.insert("training_owners", [owned], { name: "test" });
    const same = (text: string) => [text, text];
    for (const [sent, got] of [
      [whole, page(kept, a, b)],
      [`[${items.slice(0, 2).join(" ,")}]`, `[${items[1]}]`],
      [page([items[0]!], foreign, foreign), page([], "", "")],
      [
        '[{"id":9223372036854775807},{"id":9223372036854775806},{"id":null}]',
        '[{"id":9223372036854775806},{"id":null}]',
      ],
      same(page([` ${items[1]} `, items[2]!], a, escaped)),
      ...["{}", "[ ]", '"[{}"', "\ufeffnull", '["Qwen/Qwen3-14B"]', `{"id":"${a}", "parts":[1.0]}`].map(same),
    ]) {
      answers = [{ body: sent! }, { body: sent! }];
      expect((await ask("one", `GET /jobs?after=${a}&limit=2`)).body.toString()).toBe(got);
      expect((await ask("root", "GET /jobs")).body.toString()).toBe(sent);
    }
    answers = [{ body: "" }];
    expect((await ask("one", "HEAD /jobs")).status).toBe(200);
  });

  it("is 404 if it is one foreign thing or has it beside its lists, and 502 if it is not JSON", async () => {
    const foreign = await newModel("one");
    for (const [body, status] of [
      [`{"id":"${foreign}"}`, 404],
      [`{"id":"${newId()}"}`, 404],
      [`{"latest":{"id":"${foreign}"},"data":[]}`, 404],
      ['{"data":[', 502],
      ["text", 502],
    ] as const) {
      answers = [{ body, headers: { "content-type": "text/plain" } }];
      expect([body, (await ask("two", "GET /jobs")).status]).toEqual([body, status]);
    }
  });

  it("below one's own model passes unread, whatever ids it has", async () => {
    const id = await newModel("one");
    const body = `{"data":[{"id":"${newId()}","step":1.0}],"has_more":false}`;
    answers = [{ body }];
    const page = await ask("one", `GET /models/${id}/checkpoints?after=${newId()}`);
    expect(page.body.toString()).toBe(body);
  });
});
