import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHILD_ENVIRONMENT } from "../helpers/child-environment.ts";
import {
  askOf,
  comparable,
  fillStore,
  KEPT,
  QUESTIONS,
  RECORDED,
  SPAN_QUESTIONS,
  sendSpans,
} from "../helpers/kept-store.ts";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "../../scripts/bring-over.ts");
/** `src/main.ts` of another version, to bring data over from that. */
const OLD_MAIN = process.env["OLD_MAIN"];

const dir = mkdtempSync(join(tmpdir(), "sumtree-bring-over-"));
const keyFile = join(dir, "key");
let upstream: ReferenceUpstream;
let from: ServiceProcess;
let to: ServiceProcess;
beforeAll(async () => {
  writeFileSync(keyFile, ROOT_KEY);
  upstream = await startReferenceUpstream({ usageByDefault: false });
  const settings = { ROOT_API_KEY: ROOT_KEY, CHAT_UPSTREAM_URL: upstream.url };
  from = await startProcess({ ...settings, DATA_DIR: join(dir, "from") }, OLD_MAIN);
  to = await startProcess({ ...settings, DATA_DIR: join(dir, "to") });
  await fillStore(askOf(from.url));
  await sendSpans(askOf(from.url));
  await complete();
  const retention = { method: "PUT", ...withKey({ "content-type": "application/json" }) };
  await fetch(`${from.url}/projects/${RECORDED}/retention`, { ...retention, body: '{"days":3000}' });
}, 120_000);
afterAll(async () => {
  await from?.end("SIGTERM");
  await to?.end("SIGTERM");
  await upstream?.close();
  rmSync(dir, { recursive: true, force: true });
});

const withKey = (headers: object = {}) => ({
  headers: { authorization: authorization(ROOT_KEY), ...headers },
});

const GATEWAY = "acme/gateway";

/** A completion through the gateway, and the call of an SDK that tells of it too. */
async function complete(): Promise<void> {
  const chat = { model: "forest-1", messages: [{ role: "user", content: "hello" }] };
  const headers = {
    "x-sumtree-project": GATEWAY,
    "x-sumtree-trace-id": "t",
    authorization: `Bearer ${ROOT_KEY}`,
  };
  const output = (await (await askOf(from.url)("/v1/chat/completions", chat, headers)).json()) as {
    model: string;
    usage: object;
  };
  const usage = { [output.model]: { ...output.usage, requests: 1 } };
  const at = "2026-01-01T00:00:00Z";
  const call = { id: "wrapper", trace_id: "t", op_name: "o", started_at: at, ended_at: at, inputs: {} };
  const batch = [{ ...call, output, summary: { usage } }];
  await askOf(from.url)(`/v2/${GATEWAY}/calls/complete`, { batch });
  const count = async () =>
    (await (await askOf(from.url)("/calls/query_stats", { project_id: GATEWAY })).json()) as {
      count: number;
    };
  await until(async () => (await count()).count === 2);
}

async function bringOver(): Promise<string> {
  const args = ["--from", from.url, "--from-key", keyFile, "--to", to.url, "--to-key", keyFile];
  const { stdout } = await run(process.execPath, [SCRIPT, ...args], { env: CHILD_ENVIRONMENT });
  return stdout;
}

/** Ids of the gateway are given by it alone: what it has recorded gets others. */
function withoutOwner(text: string): string {
  return text.replaceAll(/73756d74-7265-[48]/g, "73756d74-7265-?");
}

async function answersOf(service: ServiceProcess) {
  const gateway = ["/trace/usage", "/calls/stream_query"].map((path) => ({
    path,
    body: { project_id: GATEWAY },
  }));
  const prices = { path: "/cost/query", body: { project_id: KEPT } };
  const answers: Record<string, unknown> = {};
  for (const { path, body } of [...QUESTIONS, ...SPAN_QUESTIONS, ...gateway, prices]) {
    const text = await (await askOf(service.url)(path, body)).text();
    answers[`${path} ${JSON.stringify(body)}`] = comparable(path, withoutOwner(text));
  }
  for (const project of [KEPT, RECORDED]) {
    const answer = await fetch(`${service.url}/projects/${project}/retention`, withKey());
    answers[project] = await answer.json();
  }
  return answers;
}

describe("npm run bring-over", () => {
  it(
    "sends everything that public routes tell to another service, which then answers the same, however often it is run",
    { timeout: 180_000 },
    async () => {
      const before = await answersOf(from);
      const first = await bringOver();
      expect(first).toMatch(
        /acme\/kept: 74 calls, 0 spans, 39 feedback, 2 prices, 1 factors, 3 objects, 1 tables, 2 files/,
      );
      expect(await answersOf(to)).toEqual(before);
      expect(await bringOver()).toBe(first);
      expect(await answersOf(to)).toEqual(before);
    },
  );

  it("says which argument it lacks", async () => {
    const failed = await run(process.execPath, [SCRIPT, "--from", "x"]).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 2, stdout: expect.stringContaining("--to-key") });
  });
});
