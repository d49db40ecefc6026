import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { faultyEngine } from "../helpers/faulty-engine.ts";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import { authorization, ROOT_KEY, startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

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
let upstream: Server;
let answers: Answer[] = [];
let seen: Seen[] = [];
/** Requests that began, also those without their end. */
let begun = 0;
let test: TestApp;
/** A second service on the same store. */
let other: TestApp;
let ports: readonly [number, number];
let settings: Record<string, string>;
const keys: Record<string, string> = {};

const PROJECTS = {
  one: ["acme/one"],
  two: ["acme/two"],
  acme: ["acme/*"],
  both: ["acme/one", "other/three"],
  third: ["other/three"],
};

beforeAll(async () => {
  upstream = createServer((request, response) => {
    begun++;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      const body = Buffer.concat(chunks);
      const isPacked = request.headers["content-encoding"] === "gzip";
      const text = (isPacked ? gunzipSync(body) : body).toString("utf8");
      seen.push({ line: `${request.method} ${request.url}`, body: text });
      const next = answers.shift() ?? { body: JSON.stringify({ id: newId() }) };
      response.writeHead(next.status ?? 200, {
        "content-type": "application/json",
        ...(next.isCut === true ? { "content-length": "9999" } : {}),
        ...next.headers,
      });
      if (next.isCut === true) response.write(next.body, () => response.destroy());
      else response.end(next.body);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const { port: theirs } = upstream.address() as AddressInfo;
  settings = { TRAINING_UPSTREAM_URL: `http://127.0.0.1:${theirs}/v1`, GATEWAY_PASSTHROUGH_PATHS: "/" };
  test = await startApp({ settings });
  other = await startAppOn(test.engine, { settings });
  const listening = [test, other].map(({ app }) => app.listen({ host: "127.0.0.1", port: 0 }));
  const [first, second] = (await Promise.all(listening)).map((url) => Number(new URL(url).port));
  ports = [first!, second!];
  for (const [name, projects] of Object.entries(PROJECTS)) {
    const payload = { name, scopes: ["train", "admin", "read"], projects };
    keys[name] = (await test.post("/api-keys", payload)).json().key as string;
  }
  keys["root"] = ROOT_KEY;
});
afterAll(async () => {
  await other.close();
  await test.close();
  upstream.closeAllConnections();
  upstream.close();
});
beforeEach(() => {
  answers = [];
  seen = [];
  begun = 0;
});

interface Sent {
  readonly body?: object | string | Uint8Array | undefined;
  readonly headers?: readonly string[];
  /** The service: 0 or 1. */
  readonly at?: 0 | 1;
}

function ask(key: string, line: string, { body, headers = [], at = 0 }: Sent = {}): Promise<RawResponse> {
  const text = typeof body === "string" ? body : JSON.stringify(body ?? "");
  const bytes = body instanceof Uint8Array ? body : Buffer.from(body === undefined ? "" : text);
  const [method, path = ""] = line.split(" ");
  const lines = [
    `${method} ${/^(?:\/v1|http)/.test(path) ? path : `/v1/preview${path}`} HTTP/1.1`,
    "host: gateway",
    `authorization: Bearer ${keys[key]}`,
    "content-type: application/json",
    `content-length: ${bytes.length}`,
    "connection: close",
    ...headers,
  ];
  return sendRaw(ports[at], head(...lines), bytes).answer;
}

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

  it("passes unchanged for keys that cover its project, on every service", async () => {
    const bytes = '{"seed": 9223372036854775807, "loss":1.0, "a":"\\u0041","a":null}';
    answers = [{ body: bytes }, { body: bytes }, { body: bytes }];
    for (const [key, at] of [
      ["one", 0],
      ["both", 1],
      ["root", 1],
    ] as const) {
      const answer = await send(key, id, at);
      expect([answer.status, answer.body.toString()]).toEqual([200, bytes]);
    }
    expect(seen.map(({ line: sent }) => sent)).toEqual(
      Array.from({ length: 3 }, () => line.replace(" ", " /v1/preview").replace(":id", id)),
    );
  });

  it("is 404 for keys of other projects, as an unknown id is, and sends nothing upstream", async () => {
    for (const spelling of [id, id.toUpperCase(), `%7B${id}%7D`, id.replaceAll("-", "")]) {
      const answer = await send(spelling === id ? "third" : "two", spelling);
      expect([spelling, answer.status]).toEqual([spelling, 404]);
    }
    expect(seen).toEqual([]);
    const foreign = await send("two", id, 1);
    const unknown = await send("two", newId(), 1);
    expect(json(foreign)).toEqual(json(unknown));
    expect(foreign.status).toBe(404);
    expect(seen).toEqual([]);
  });

  it("passes for a key of all projects whatever the id, and for its own in any spelling", async () => {
    expect((await send("root", newId())).status).toBe(200);
    expect((await send("one", id.toUpperCase())).status).toBe(200);
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
    for (const query of ["after", "model_id", "x"])
      expect((await ask("two", `${asked}${query}=${id}`, { body })).status).toBe(404);
    expect((await ask("one", `${asked}after=${newId()}&project=one`, { body })).status).toBe(200);
  });
});

/** Paths that the interface does not have. */
const OTHERS =
  "GET /models/:id/export|PATCH /models/:id/export|HEAD /models/:id/export|POST /training-jobs/:id/cancel|" +
  "GET /sft-training-jobs/:id|GET /jobs/latest|GET /anything/:id|POST /anything|PUT /anything|DELETE /anything|" +
  "GET /v1/training/runs/:id|POST /v1/training/runs:resolve|POST /v1/%2554raining/runs|GET /v1/%20preview/jobs|" +
  "GET /v1/preview%2Fjobs|GET /v1/preview%2Fmodels%2F:id%2Fx|GET /v1/preview%252Fmodels%252F:id|GET /v1/Preview/Models/:id|" +
  "GET /v1/preview%5Cmodels%5C:id|GET /models/:own/models/:id|GET /models/:id/models/:own";

it.each(OTHERS.split("|"))("%s is no route but for keys of all projects, whatever it names", async (line) => {
  const [id, own] = [await newModel("two"), await newModel("one")];
  seen = [];
  const body = line.startsWith("P") ? {} : undefined;
  const send = (key: string) => ask(key, line.replace(":id", id).replace(":own", own), { body });
  for (const key of ["one", "acme"]) expect([(await send(key)).status, seen]).toEqual([404, []]);
  expect([(await send("root")).status, seen.length]).toEqual([200, 1]);
});

const fullWidth = (id: string): string =>
  encodeURIComponent(id.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))));

it.each([
  ["an escaped digit", (id: string) => `/v1/preview/models/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`],
  ["parameters", (id: string) => `/v1/preview/models/${id};a=1`],
  ["doubled slashes", (id: string) => `/v1//preview///models//${id}`],
  ["an absolute form", (id: string) => `http://x/v1/preview/models/${id}`],
  ["full-width digits", (id: string) => `/v1/preview/models/${fullWidth(id)}`],
])("a path with %s does not reach a foreign model", async (_what, spell) => {
  const path = `${spell(await newModel("one"))}/checkpoints`;
  seen = [];
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
    const [id, own] = [await newModel("one"), await newModel("two")];
    begun = 0;
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
    const [id, own] = [await newModel("one"), await newModel("two")];
    seen = [];
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
      for (const first of ["", `"model_id":"${own}",`]) {
        expect((await send(`{${first}"data":"${data}","model_id":"${id}"}`)).status).toBe(404);
        expect(seen).toEqual([]);
      }
      const fine = `{"data":"${data}","model_id":"${own}"}`;
      expect([(await send(fine)).status, seen.splice(0).map(({ body }) => body === fine)]).toEqual([
        200,
        [true],
      ]);
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
    const own = await newModel("two");
    begun = 0;
    expect([(await ask("two", RL, { body: bodyOf(own) })).status, begun]).toEqual([status, 0]);
  });

  it("is decompressed to check it", async () => {
    const [id, own] = [await newModel("one"), await newModel("two")];
    seen = [];
    const headers = ["content-encoding: gzip"];
    const send = (body: string) => ask("two", RL, { body: gzipSync(body), headers });
    expect([(await send(`{"model_id":"${id}"}`)).status, seen]).toEqual([404, []]);
    expect([(await send(`{"model_id":"${own}"}`)).status, seen.length]).toEqual([200, 1]);
    expect((await send(`{"model_id":"${own}","a":"${long}"}`)).status).toBe(415);
  });

  it.each([
    ["an artifact", { experimental_config: { a: ["wandb-artifact:///acme/one/agent:step1"] } }],
    ["an adapter", { experimental_config: { kl_ref_adapter_path: "acme/one/agent:step1" } }],
    ["an entity", { entity: "other" }],
    ["one of two entities", { entity: "acme", entity_name: "other" }],
    ["a project", { project: "acme/one" }],
  ])("of a job that names %s of another project is 422", async (_what, members) => {
    const own = await newModel("two");
    begun = 0;
    for (const line of [RL, SFT]) {
      const body = { model_id: own, training_data_url: "x", ...members };
      expect([(await ask("two", line, { body })).status, begun]).toEqual([422, 0]);
    }
  });

  it("names a model in a chat request by its id", async () => {
    const id = await newModel("one");
    seen = [];
    const body = { model: id, messages: [] };
    expect([(await ask("two", "POST /v1/chat/completions", { body })).status, seen]).toEqual([404, []]);
    expect((await ask("one", "POST /v1/chat/completions", { body })).status).toBe(200);
    expect((await ask("two", `GET /v1/models/${id}`)).status).toBe(404);
  });
});

describe("what is created", () => {
  it("belongs to the project of the header, even if a key of all projects creates it", async () => {
    const id = await newModel("root", {}, ["x-sumtree-project: acme/two"]);
    const job = await ask("acme", "POST /training-jobs", {
      body: { model_id: id },
      headers: ["openai-project: acme/two"],
    });
    for (const path of [`/models/${id}/checkpoints`, `/training-jobs/${idOf(job)}`]) {
      expect((await ask("two", `GET ${path}`)).status).toBe(200);
      expect((await ask("one", `GET ${path}`)).status).toBe(404);
    }
  });

  it("belongs to the project that the body names, or to that of its model, without a header", async () => {
    const id = await newModel("acme", { entity: null, project: "two" });
    const named = await newModel("root", { entity: "acme", project: "two" });
    const job = await newJob("acme", id);
    for (const path of [
      `/models/${id}/checkpoints`,
      `/models/${named}/checkpoints`,
      `/training-jobs/${job}`,
    ]) {
      expect((await ask("two", `GET ${path}`)).status).toBe(200);
      expect((await ask("third", `GET ${path}`)).status).toBe(404);
    }
  });

  it("needs a project if the key has several; without one, only a key of all projects creates it", async () => {
    const nameless = await ask("both", "POST /models", { body: model });
    expect([nameless.status, seen]).toEqual([400, []]);
    expect(nameless.body.toString()).toContain("x-sumtree-project");
    const made = idOf(await ask("root", RL, { body: { model_id: newId() } }));
    for (const [key, status] of [
      ["root", 200],
      ["acme", 404],
    ] as const)
      expect((await ask(key, `GET /training-jobs/${made}`)).status).toBe(status);
  });

  it("stays with its first project, also if the upstream returns it to another one", async () => {
    const id = await newModel("one");
    answers = [{ body: JSON.stringify({ id }), headers: { location: "/v1/preview/secret", etag: id } }];
    const stolen = await ask("third", "POST /models", { body: { ...model, project: "three" } });
    expect([stolen.status, stolen.headers["location"], stolen.body.includes(id)]).toEqual([
      404,
      undefined,
      false,
    ]);
    expect(stolen.headers["x-should-retry"]).toBe("false");
    answers = [{ body: `{"id":"${id.toUpperCase()}"}` }];
    expect((await ask("one", "POST /models", { body: model })).status).toBe(200);
    expect(await statusOf("third", id)).toBe(404);
    expect(await statusOf("one", id)).toBe(200);
  });

  it("belongs to one of two projects that create it at the same time", async () => {
    const ids = Array.from({ length: 8 }, () => newId());
    answers = ids.flatMap((id) => [{ body: `{"id":"${id}"}` }, { body: `{"id":"${id}"}` }]);
    const create = (key: string, project: string, at: 0 | 1) =>
      ask(key, "POST /models", { body: { ...model, project }, at });
    const made = await Promise.all(
      ids.flatMap((_id, at) => [create("one", "one", 0), create("third", "three", at % 2 === 0 ? 0 : 1)]),
    );
    const owned = made.filter(({ status }) => status === 200).map(idOf);
    for (const id of ids) {
      const reads = await Promise.all(["one", "third"].map((key) => statusOf(key, id)));
      expect(reads.toSorted((a, b) => a - b)).toEqual([200, 404]);
      expect(owned).toContain(id);
    }
  });

  it("is known after a restart, before which its creator had the response", async () => {
    const id = await newModel("one");
    const again = await startAppOn(test.engine, { settings });
    try {
      const url = await again.app.listen({ host: "127.0.0.1", port: 0 });
      const read = async (key: string) => {
        const headers = { authorization: authorization(keys[key], "bearer") };
        return (await fetch(`${url}/v1/preview/models/${id}/checkpoints`, { headers })).status;
      };
      expect([await read("one"), await read("two")]).toEqual([200, 404]);
    } finally {
      await again.close();
    }
  });

  it("is an error without its end: nobody owns what the upstream may have made", async () => {
    const id = newId();
    answers = [{ body: `{"id":"${id}"`, isCut: true }];
    const cut = await ask("one", "POST /models", { body: model });
    expect([cut.status, cut.headers["x-should-retry"], cut.complete]).toEqual([502, "false", true]);
    expect(await statusOf("one", id)).toBe(404);
    // an upstream that returns what exists makes it theirs
    answers = [{ body: `{"id":"${id}"}` }];
    await ask("one", "POST /models", { body: { ...model, return_existing: true } });
    expect(await statusOf("one", id)).toBe(200);
  });

  it("is 503 if the ledger cannot be written, and belongs to nobody", async () => {
    const id = newId();
    const gone = await startAppOn(test.engine, {
      settings,
      wrapEngine: (engine) =>
        faultyEngine(engine, (name) => (name === "training_owners_add" ? "refused" : "done")),
    });
    try {
      answers = [{ body: `{"id":"${id}"}` }];
      const url = await gone.app.listen({ host: "127.0.0.1", port: 0 });
      const made = await fetch(`${url}/v1/preview/models`, {
        method: "POST",
        headers: { authorization: authorization(keys["one"], "bearer") },
        body: JSON.stringify(model),
      });
      expect([made.status, made.headers.get("x-should-retry")]).toEqual([503, "false"]);
      expect(await made.text()).not.toContain(id);
    } finally {
      await gone.close();
    }
    expect(await statusOf("one", id)).toBe(404);
  });

  it.each([
    ["text", { body: "made", headers: { "content-type": "text/plain" } }, 502],
    ["half of JSON", { body: '{"id":"' }, 502],
    ["an error", { status: 409, body: '{"detail":"A model with that name exists"}' }, 409],
  ])("is the error that %s is", async (_what, answer, status) => {
    answers = [answer];
    expect((await ask("one", "POST /models", { body: model })).status).toBe(status);
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
    expect(await statusOf("third", id)).toBe(404);
    expect(await statusOf("third", id, 1)).toBe(404);
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
    await test.engine.insert("training_owners", [{ id: "9223372036854775806", project_id: "acme/one" }], {
      name: "test",
    });
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
