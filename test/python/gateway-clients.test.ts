import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";
import { isChosen, type Environment } from "./environments.ts";
import { PROGRAMS, runPython } from "./python-program.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({ upstream: { usageByDefault: false } });
});
afterAll(() => test.close());

interface Recorded {
  readonly id: string;
  readonly tokens: number;
  readonly exception: string | null;
  readonly sumtree: { readonly outcome: string; readonly usage: string; readonly status: number };
}

/** Reads the recorded calls, as soon as there are `count`. */
async function recorded(project_id: string, count: number): Promise<readonly Recorded[]> {
  let lines: string[] = [];
  await until(async () => {
    const { text } = await test.post("/calls/stream_query", { project_id });
    lines = text.trimEnd().split("\n");
    return lines.length >= count;
  });
  return lines.map((line) => {
    const { id, summary, exception, attributes } = JSON.parse(line) as {
      id: string;
      summary: { usage?: Record<string, { total_tokens: number }> };
      exception: string | null;
      attributes: Pick<Recorded, "sumtree">;
    };
    const tokens = Object.values(summary.usage ?? {}).reduce(
      (sum, usage) => sum + (usage.total_tokens ?? 0),
      0,
    );
    return { id, tokens, exception, sumtree: attributes.sumtree };
  });
}

async function run(
  environment: Environment,
  file: string,
  project: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<readonly number[]> {
  const ended = await runPython(environment, [join(PROGRAMS, file)], {
    OPENAI_BASE_URL: test.baseUrl,
    SUMTREE_KEY: ROOT_KEY,
    PROJECT: project,
    ...variables,
  });
  expect(ended.exitCode, ended.output).toBe(0);
  const { counted } = JSON.parse(ended.output.split("\nRESULT ")[1]!) as { counted: number[] };
  return counted;
}

/** A key of the project: what a key of all projects creates belongs to a project only if the request names it. */
async function ownKey(project: string) {
  const made = await test.post("/api-keys", {
    name: "art",
    scopes: ["gateway", "train"],
    projects: [project],
  });
  expect(made.status, made.text).toBe(201);
  return { SUMTREE_KEY: (made.json() as { readonly key: string }).key };
}

const ascending = (numbers: readonly number[]) => numbers.toSorted((left, right) => left - right);

describe("Python clients of the gateway", () => {
  it.runIf(isChosen("core"))(
    "openai: every completion counts once, repeated, streamed, at once and asynchronously; what was relayed before a client left counts too",
    async () => {
      const project = "acme/openai-client";
      test.upstream.fail({
        kind: "answer",
        status: 429,
        body: '{"detail":"busy"}',
        headers: { "retry-after-ms": "50" },
      });
      test.upstream.fail({ kind: "answer", status: 500, body: '{"detail":"broken"}' });
      const counted = await run("core", "openai_client.py", project);
      const calls = await recorded(project, counted.length + 3);
      const finished = calls.filter(({ sumtree }) => sumtree.outcome === "finished");
      expect(ascending(finished.map(({ tokens }) => tokens))).toEqual(ascending(counted));
      const failed = calls.filter(({ sumtree }) => sumtree.outcome === "error");
      expect(ascending(failed.map(({ sumtree }) => sumtree.status))).toEqual([429, 500]);
      expect(failed.every(({ tokens, exception }) => tokens === 0 && exception !== null)).toBe(true);
      const [left, ...others] = calls.filter(({ sumtree }) => sumtree.outcome === "aborted");
      expect(others).toEqual([]);
      expect(left!.sumtree.usage).toMatch(/partial|estimated/);
      expect(left!.tokens).toBeGreaterThan(0);
      expect(left!.tokens).toBeLessThan(1000);
      expect(calls).toHaveLength(counted.length + 3);
    },
  );

  it.runIf(isChosen("core"))(
    "openai and anthropic: responses, embeddings and messages count once, whole and streamed",
    async () => {
      const project = "acme/model-apis";
      const counted = await run("core", "model_apis.py", project);
      const calls = await recorded(project, counted.length);
      expect(ascending(calls.map(({ tokens }) => tokens))).toEqual(ascending(counted));
      expect(calls.every(({ sumtree }) => sumtree.usage === "exact")).toBe(true);
    },
  );

  it.runIf(isChosen("art"))(
    "openpipe-art: registers a model, calls it, trains it on its responses, and deletes it",
    async () => {
      const project = "acme/art";
      const counted = await run("art", "art_training.py", project, await ownKey(project));
      const calls = await recorded(project, counted.length);
      expect(ascending(calls.map(({ tokens }) => tokens))).toEqual(ascending(counted));
    },
  );

  it.runIf(isChosen("art"))(
    "openpipe-art: trains on an export of the rated calls, and the ledger has both jobs with what was uploaded",
    async () => {
      const project_id = "acme/art";
      const calls = await recorded(project_id, 8);
      const batch = calls.map(({ id }, at) => ({
        project_id,
        weave_ref: `weave:///${project_id}/call/${id}`,
        feedback_type: "score",
        payload: { score: at / 8 },
      }));
      const rated = await test.post("/feedback/batch/create", { batch });
      expect(rated.status, rated.text).toBe(200);
      const feedback = { json_path: "score", op: "$gte", value: 0 };
      const exported = await test.post("/dataset/export", { project_id, format: "trajectories", feedback });
      expect(exported.status, exported.text).toBe(200);
      const lines = exported.text.trimEnd().split("\n");
      expect(ascending(lines.map((line) => (JSON.parse(line) as { reward: number }).reward))).toEqual(
        batch.map(({ payload }) => payload.score),
      );
      const dir = mkdtempSync(join(tmpdir(), "sumtree-art-"));
      const TRAJECTORIES = join(dir, "train.jsonl");
      writeFileSync(TRAJECTORIES, exported.text);
      const [read] = await run("art", "art_trajectories.py", project_id, {
        TRAJECTORIES,
        ...(await ownKey(project_id)),
      });
      rmSync(dir, { recursive: true });
      expect(read).toBe(8);
      let jobs: readonly object[] = [];
      await until(async () => {
        const asked = await test.post("/training/jobs/query", { project_id, status: "completed" });
        jobs = (asked.json() as { readonly jobs: readonly object[] }).jobs;
        return jobs.length === 2;
      });
      expect(jobs[0]).toMatchObject({
        kind: "rl",
        base_model: "base/forest",
        output_model: "acme/art/agent-002",
        created_by: { api_key: expect.any(String) },
        checkpoints: [{ step: 1, llm: "wandb-artifact:///acme/art/agent-002:step1" }],
      });
      const uploads = test.upstream.seen.filter(
        ({ method, url }) => method === "POST" && url.endsWith("/preview/training-jobs"),
      );
      const sent = uploads.map(({ bodySha256: sha256, bodyBytes: bytes }) => ({ sha256, bytes }));
      expect(jobs.toReversed()).toMatchObject(sent.map((dataset) => ({ dataset })));
    },
  );
});
