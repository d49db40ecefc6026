import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { head, sendRaw } from "../helpers/raw-http.ts";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const project_id = "acme/killed-jobs";
const dir = mkdtempSync(join(tmpdir(), "sumtree-kill-training-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const headers = {
  authorization: authorization(ROOT_KEY, "bearer"),
  "content-type": "application/json",
  "x-sumtree-project": project_id,
};
/** Events of a job come one in so much time. */
const STEP_MS = 4000;

interface ShownJob {
  readonly id: string;
  readonly status: string;
  readonly forgotten: boolean;
  readonly dataset: { readonly bytes: number };
  readonly checkpoints: readonly { readonly step: number }[];
}

async function jobsIn(service: ServiceProcess): Promise<readonly ShownJob[]> {
  const response = await service.post("/training/jobs/query", { project_id });
  return ((await response.json()) as { readonly jobs: readonly ShownJob[] }).jobs;
}
async function statusOf(service: ServiceProcess, id: string): Promise<string | undefined> {
  return (await jobsIn(service)).find((job) => job.id === id)?.status;
}
async function create(service: ServiceProcess, path: string, body: object): Promise<string> {
  const response = await fetch(`${service.url}/v1/preview/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { readonly id: string }).id;
}

describe("kill -9 during training", () => {
  it("leaves every job as it is, and every end is seen", { timeout: 600_000 }, async () => {
    let upstream: ReferenceUpstream = await startReferenceUpstream({ stepMs: STEP_MS });
    const port = Number(new URL(upstream.url).port);
    const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY, TRAINING_UPSTREAM_URL: upstream.url };
    let service = await startProcess(settings);
    const names = { entity: "acme", project: "killed-jobs", base_model: "b" };
    const model_id = await create(service, "models", { ...names, name: "agent" });
    const groups = (count: number) => ({
      model_id,
      trajectory_groups: Array.from({ length: count }, () => ({})),
    });

    // one whose body is on its way, and one whose answer is
    const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const first = head(
      "POST /v1/preview/training-jobs HTTP/1.1",
      "host: g",
      ...own,
      "content-length: 9000000",
    );
    const part = Buffer.alloc(400_000, " ");
    const broken = sendRaw(Number(new URL(service.url).port), first, `{"model_id":"${model_id}"`, part);
    await until(async () =>
      (await jobsIn(service)).some(
        ({ status, dataset }) => status === "uploading" && dataset.bytes > 400_000,
      ),
    );
    upstream.fail({ kind: "silence", ms: 600_000 }, 2);
    const unanswered = create(service, "training-jobs", groups(1)).catch(() => undefined);
    await until(async () => (await jobsIn(service)).length === 2);
    await until(() =>
      upstream.seen.some(({ method, bodyBytes }) => method === "POST" && bodyBytes > 60 && bodyBytes < 400),
    );
    const model = upstream.training;
    await service.end("SIGKILL");
    await Promise.all([broken.answer, unanswered]);
    upstream.forget();

    service = await startProcess(settings);
    const short = await create(service, "training-jobs", groups(1));
    await until(async () => (await statusOf(service, short)) === "pending");
    await service.end("SIGKILL");
    service = await startProcess(settings);
    const other = await create(service, "models", { ...names, name: "other" });
    const long = await create(service, "training-jobs", { ...groups(20), model_id: other });
    await until(async () => (await statusOf(service, long)) === "running");
    // it ends while the upstream is away, and the service dies meanwhile
    await upstream.close();
    await service.end("SIGKILL");
    service = await startProcess(settings);
    expect(await statusOf(service, long)).toBe("running");
    upstream = await startReferenceUpstream({ port, training: model });
    await until(async () => (await statusOf(service, long)) === "completed", 200_000);
    expect(await statusOf(service, short)).toBe("completed");

    // an upstream that loses all
    const lost = await create(service, "training-jobs", groups(1000));
    await upstream.close();
    upstream = await startReferenceUpstream({ port });
    await until(async () => (await statusOf(service, lost)) === "unknown", 100_000);
    const shown = await jobsIn(service);
    expect(shown.map(({ status, forgotten }) => [status, forgotten])).toEqual([
      ["unknown", true],
      ["completed", false],
      ["completed", false],
      ["unknown", false],
      ["failed", false],
    ]);
    expect(shown[1]!.checkpoints.map(({ step }) => step)).toEqual([1]);
    expect(shown[4]!.dataset.bytes).toBeGreaterThan(400_000);
    expect(await service.end("SIGTERM")).toBe(0);
    await upstream.close();
  });
});
