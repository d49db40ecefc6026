import { createHash, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import OpenAI from "openai";
import { createJobStore, type JobStore } from "../../src/training-jobs/job-store.ts";
import { createTrainingJobs, type TrainingJobsService } from "../../src/training-jobs/training-jobs.ts";
import { FairSemaphore } from "../../src/fairness/fair-semaphore.ts";
import { head, sendRaw, type RawExchange } from "../helpers/raw-http.ts";
import { keyOf } from "../helpers/recorded-calls.ts";
import { splitAt } from "../helpers/random-splits.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, UPSTREAM_KEY, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

const random = seededRandom();
const project_id = "acme/one";
let test: TestGateway;
let one: string;
let two: string;
beforeAll(async () => {
  test = await startGateway({ upstream: { keepBytes: 64 * 1024 * 1024 } });
  one = await keyOf(test, ["acme/one"]);
  two = await keyOf(test, ["acme/two"]);
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

interface ShownJob {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly error: string | null;
  readonly forgotten: boolean;
  readonly model_id: string;
  readonly dataset: { readonly sha256: string; readonly bytes: number; readonly lines: number | null };
  readonly metrics: Readonly<Record<string, number>>;
  readonly checkpoints: readonly { readonly step: number; readonly llm: string }[];
}

async function jobs(query: object = {}): Promise<readonly ShownJob[]> {
  const answer = await test.post("/training/jobs/query", { project_id, ...query });
  expect(answer.status, answer.text).toBe(200);
  return (answer.json() as { jobs: readonly ShownJob[] }).jobs;
}

let models = 0;
const client = (key: string): OpenAI => new OpenAI({ apiKey: key, baseURL: test.baseUrl, maxRetries: 0 });
async function newModel(name = "agent", key = one): Promise<string> {
  const body = { project: "one", name: `${name}-${++models}`, base_model: "base", entity: "acme" };
  return (await client(key).post<{ id: string }>("/preview/models", { body })).id;
}
async function newJob(model_id: string, more: object = {}, headers = {}): Promise<string> {
  const body = { model_id, trajectory_groups: [{}, {}, {}, {}], ...more };
  return (await client(one).post<{ id: string }>("/preview/training-jobs", { body, headers })).id;
}

/** Begins a chunked create with these bytes. */
function stream(parts: readonly Uint8Array[], { key = one, ends = true } = {}): RawExchange {
  const lines = [
    "host: g",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    "x-sumtree-project: acme/one",
  ];
  const chunks = parts
    .filter((part) => part.length > 0)
    .flatMap((part) => [`${part.length.toString(16)}\r\n`, part, "\r\n"]);
  const path = "POST /v1/preview/training-jobs HTTP/1.1";
  const first = head(path, ...lines, "transfer-encoding: chunked", "connection: close");
  return sendRaw(test.port, first, ...chunks, ...(ends ? ["0\r\n\r\n"] : []));
}
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("a create", () => {
  it("is recorded before its response, with its data, settings and creator", async () => {
    const model_id = await newModel();
    const body = { experimental_config: { learning_rate: 0.5 }, user: "ada", data: "secret" };
    const id = await newJob(model_id, body, { "x-sumtree-export-id": "export_1" });
    const [job] = await jobs();
    const sent = test.upstream.seen.find(
      ({ method, url }) => method === "POST" && url.endsWith("training-jobs"),
    )!;
    expect(sent.headers["x-sumtree-export-id"]).toBeUndefined();
    expect(job).toMatchObject({
      id,
      kind: "rl",
      status: "pending",
      base_model: "base",
      output_model: `acme/one/agent-${models}`,
      model_id,
      error: null,
      forgotten: false,
      ended_at: null,
      created_by: { api_key: one.split("_")[1], svc_user_id: "ada" },
      request: { model_id, experimental_config: { learning_rate: 0.5 } },
      dataset: { sha256: sent.bodySha256, bytes: sent.bodyBytes, lines: 1, export_id: "export_1" },
      metrics: {},
      checkpoints: [],
      stated_cost: null,
    });
    const foreign = await test.post("/training/jobs/query", { project_id: "acme/two" }, { key: two });
    expect(foreign.json()).toEqual({ jobs: [], next_page_token: null });
    expect((await test.post("/training/jobs/query", { project_id }, { key: two })).status).toBe(403);
    await expect(newJob(model_id, {}, { "x-sumtree-export-id": "a b" })).rejects.toMatchObject({
      status: 422,
    });
  });

  it("of an SFT job is recorded too, and one that returns a job that exists changes nothing", async () => {
    const model_id = await newModel();
    const body = {
      model_id,
      training_data_url: "wandb-artifact:///acme/one/d:v0",
      config: { batch_size: 2 },
    };
    const create = () => client(one).post<{ id: string }>("/preview/sft-training-jobs", { body });
    const { id } = await create();
    const before = await jobs({ kind: "sft" });
    expect(before).toMatchObject([{ id, request: body, status: "pending" }]);
    test.upstream.fail({ kind: "answer", status: 200, body: JSON.stringify({ id }) }, 2);
    await create();
    test.upstream.forget();
    expect(await jobs({ kind: "sft" })).toEqual(before);
  });

  it("leaves no job if the upstream refuses it, and is unknown or failed if the answer is lost", async () => {
    const model_id = await newModel();
    const foreign = client(two).post("/preview/training-jobs", { body: { model_id } });
    await expect(foreign).rejects.toMatchObject({ status: 404 });
    const before = await jobs();
    test.upstream.fail({ kind: "answer", status: 500, body: "{}" }, 2);
    await expect(newJob(model_id)).rejects.toMatchObject({ status: 500 });
    test.upstream.forget();
    expect(await jobs()).toEqual(before);
    test.upstream.fail({ kind: "reset" }, 2);
    await expect(newJob(model_id)).rejects.toMatchObject({ status: 502 });
    test.upstream.forget();
    const [job, ...others] = await jobs();
    expect(job).toMatchObject({ status: "unknown", model_id });
    expect(others).toEqual(before);
  });
});

describe("a streamed body", () => {
  it.each([["one"], ["root"]])(
    "of 20 MB in random chunks is counted exactly, with the key %s",
    async (by) => {
      const model_id = await newModel();
      const lines = Array.from({ length: 20_000 }, (_, at) => `"${String(at).padStart(1000, "x")}"`).join(
        ",\n",
      );
      const ends = random.next() < 0.5 ? "\n" : "";
      const bytes = Buffer.from(
        `{"model_id":"${await newModel()}","data":[${lines}],"model_id":"${model_id}"}${ends}`,
      );
      const parts = splitAt(
        bytes,
        Array.from({ length: 300 }, () => Math.floor(random.next() * 2 ** 31)),
      );
      const { status, body } = await stream(parts, { key: by === "one" ? one : ROOT_KEY }).answer;
      expect([status, body.toString()]).toEqual([200, expect.stringContaining("id")]);
      const [job] = await jobs();
      const text = bytes.toString();
      const count = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
      expect(job).toMatchObject({ model_id, status: "pending" });
      expect(job!.dataset).toMatchObject({ sha256: sha256(bytes), bytes: bytes.length, lines: count });
      const sent = test.upstream.seen.find(({ bodyBytes }) => bodyBytes > 1e6)!;
      expect([sent.bodySha256, sent.bodyBytes]).toEqual([sha256(bytes), bytes.length]);
    },
  );

  it("that is compressed has its members read, and no count of lines", async () => {
    const model_id = await newModel();
    const id = randomUUID();
    test.upstream.fail({ kind: "answer", status: 200, body: JSON.stringify({ id }) }, 2);
    const body = gzipSync(`{"model_id":"${model_id}",\n"user":"ada"}`);
    const headers = {
      authorization: `Bearer ${one}`,
      "content-type": "application/json",
      "content-encoding": "gzip",
    };
    const path = `${test.baseUrl}/preview/training-jobs`;
    expect((await fetch(path, { method: "POST", headers, body })).status).toBe(200);
    test.upstream.forget();
    const dataset = { sha256: sha256(body), bytes: body.length, lines: null };
    expect((await jobs())[0]).toMatchObject({ id, model_id, created_by: { svc_user_id: "ada" }, dataset });
  });

  it.each([[100], [300_000], [3_000_000]])(
    "that breaks off after %i bytes is a job that failed",
    async (length) => {
      const model_id = await newModel();
      const bytes = Buffer.from(`{"model_id":"${model_id}","data":"${"x\n".repeat(length / 2)}`).subarray(
        0,
        length,
      );
      const before = (await jobs()).length;
      const { socket } = stream([bytes], { ends: false });
      if (length > 256 * 1024) await until(async () => (await jobs())[0]?.status === "uploading");
      await until(() => !socket.connecting && socket.writableLength === 0);
      socket.destroy();
      await until(async () => (await jobs())[0]?.status === "failed" && (await jobs()).length === before + 1);
      const [job] = await jobs();
      expect(job!.error).toContain("disconnected");
      const seen = bytes.subarray(0, job!.dataset.bytes);
      expect(job!.dataset).toMatchObject({
        sha256: sha256(seen),
        lines: seen.toString().split("\n").length - Number(seen.at(-1) === 10),
      });
    },
  );
});

/** Another service on the store, whose clocks the test moves. */
function newFollower(store: JobStore, from = 0) {
  const time = { ms: from };
  const clock = { now: () => Date.now() + time.ms };
  const reads: string[] = [];
  const log = { info: () => undefined, warn: () => undefined };
  const service: TrainingJobsService = createTrainingJobs({
    store,
    clock,
    steady: { now: () => time.ms },
    log,
  });
  service.connect(async (path) => {
    reads.push(path);
    try {
      const headers = { authorization: `Bearer ${UPSTREAM_KEY}` };
      const response = await fetch(test.upstream.url + path, { headers });
      return { status: response.status, body: await response.json() };
    } catch {
      return undefined;
    }
  });
  /** Follows for so many seconds. */
  const run = async (seconds: number): Promise<void> => {
    for (let at = 0; at < seconds; at++) {
      time.ms += 1000;
      const before = reads.length;
      await service.follow();
      expect(reads.length - before).toBeLessThanOrEqual(4);
    }
  };
  return { run, reads, time };
}
const newStore = (): JobStore =>
  createJobStore(test.engine, { lingerMs: 0, pending: new FairSemaphore({ capacity: 1e9 }) });

describe("following", () => {
  it("sees an end within 45 s, with metrics, checkpoints and errors", async () => {
    const id = await newJob(await newModel(), { experimental_config: { checkpoint_every: 2 } });
    const failing = await newJob(await newModel("failing-agent"));
    const follower = newFollower(newStore());
    await follower.run(45);
    const found = new Map((await jobs()).map((job) => [job.id, job]));
    const { output_model: output } = found.get(id) as unknown as { output_model: string };
    expect(found.get(id)).toMatchObject({
      status: "completed",
      metrics: { gradient_step: 4, loss: 0.25, reward: 0.75 },
      checkpoints: [1, 2, 3].map((step) => ({ step, llm: `wandb-artifact:///${output}:step${step}` })),
    });
    expect(found.get(failing)).toMatchObject({
      status: "failed",
      error: "CUDA out of memory",
      checkpoints: [],
    });
    const before = follower.reads.length;
    await follower.run(60);
    expect(follower.reads.length).toBe(before);
  });

  it("attributes only new checkpoints to a second job of a model", async () => {
    const model = await newModel();
    await newJob(model);
    const follower = newFollower(newStore());
    await follower.run(45);
    await newJob(model);
    await follower.run(45);
    const steps = (await jobs()).filter(({ model_id }) => model_id === model);
    expect(steps.map(({ checkpoints }) => checkpoints.map(({ step }) => step))).toEqual([[2], [1]]);
  });

  it("marks what is forgotten, and waits for an upstream that is away", async () => {
    const id = await newJob(await newModel());
    const follower = newFollower(newStore());
    test.upstream.fail({ kind: "reset" }, 2);
    await follower.run(22);
    test.upstream.forget();
    expect((await jobs())[0]).toMatchObject({ id, status: "pending" });
    test.upstream.training.forgetJobs();
    await follower.run(45);
    expect((await jobs())[0]).toMatchObject({ id, status: "unknown", forgotten: true });
  });

  it("of a job with many events does not keep others waiting", async () => {
    const long = await newJob(await newModel(), {
      trajectory_groups: Array.from({ length: 2500 }, () => ({})),
    });
    const short = await newJob(await newModel());
    const follower = newFollower(newStore());
    await follower.run(24);
    const found = new Map((await jobs()).map(({ id, status }) => [id, status]));
    expect([found.get(long), found.get(short)]).toEqual(["running", "completed"]);
    await follower.run(40);
    expect((await jobs()).find(({ id }) => id === long)).toMatchObject({ status: "completed" });
  });

  it("goes on in another service, and two of them do not read twice", async () => {
    const model = await newModel();
    const ids = await Promise.all(Array.from({ length: 6 }, () => newJob(model)));
    const store = newStore();
    const first = newFollower(store);
    const second = newFollower(store);
    first.time.ms = second.time.ms = 20_000;
    for (let at = 0; at < 45; at++) {
      await first.run(1);
      await second.run(1);
    }
    const reads = [...first.reads, ...second.reads];
    const ofJobs = reads.filter((path) => !path.includes("/checkpoints"));
    expect([ofJobs.length, new Set(ofJobs).size, reads.length]).toEqual([12, 12, 18]);
    const found = (await jobs()).filter(({ id }) => ids.includes(id));
    expect(found.map(({ status }) => status)).toEqual(ids.map(() => "completed"));
  });
});

describe("the list", () => {
  it("has pages, whose tokens are for their own query", async () => {
    const all = await jobs();
    const seen: ShownJob[] = [];
    let page_token: string | null = null;
    do {
      const answer = await test.post("/training/jobs/query", { project_id, limit: 3, page_token });
      const page = answer.json() as { jobs: ShownJob[]; next_page_token: string | null };
      seen.push(...page.jobs);
      page_token = page.next_page_token;
      if (page_token !== null) {
        const foreign = await test.post("/training/jobs/query", { project_id: "acme/two", page_token });
        expect(foreign.status).toBe(422);
      }
    } while (page_token !== null);
    expect(seen).toEqual(all);
    expect((await test.post("/training/jobs/query", { project_id, page_token: "x" })).status).toBe(422);
    expect((await test.post("/training/jobs/query", { project_id, more: 1 })).status).toBe(422);
  });
});
