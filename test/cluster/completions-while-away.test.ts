import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tokensOf } from "../helpers/cluster-load.ts";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import { authorization } from "../helpers/start-app.ts";
import {
  clusterName,
  hasFaults,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";
import { until } from "../helpers/until.ts";

const COMPLETIONS = 72;
const replicas = Array.from({ length: replicaCount }, (_, index) => index + 1);

describe.skipIf(!hasFaults)(`completions while all replicas are unavailable, on ${clusterName}`, () => {
  let cluster: TestCluster;
  let upstream: ReferenceUpstream;
  let service: ServiceProcess;
  beforeAll(async () => {
    cluster = await openCluster();
    upstream = await startReferenceUpstream();
    service = await cluster.start([], { TRAINING_UPSTREAM_URL: upstream.url });
  });
  afterAll(async () => {
    await cluster?.close();
    await upstream?.close();
  });

  const complete = async (project: string): Promise<string> => {
    const response = await fetch(`${service.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: authorization(undefined, "bearer"),
        "content-type": "application/json",
        "openai-project": project,
      },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] }),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("usage")]);
    return response.headers.get("x-sumtree-call-id")!;
  };
  const counted = async (what: string): Promise<number> => {
    const metrics = await fetch(`${service.url}/metrics`, { headers: { authorization: authorization() } });
    return Number(new RegExp(`sumtree_gateway_completions_${what} (\\d+)`).exec(await metrics.text())![1]);
  };

  it.each(["kill", "stop"] as const)("(%s) are all recorded afterwards", async (fault) => {
    const project = `acme/${fault}`;
    const recorded = await counted("recorded_total");
    for (const replica of replicas) await cluster.fault(fault, replica);
    const ids = new Set<string>();
    for (let n = 0; n < COMPLETIONS; n++) ids.add(await complete(project));
    await cluster.heal();
    await until(async () => (await counted("pending")) === 0, 120_000);
    expect(await counted("recorded_total")).toBe(recorded + COMPLETIONS);
    expect(await counted("dropped_total")).toBe(0);
    expect(new Set((await tokensOf(service, project)).keys())).toEqual(ids);
  });
});
