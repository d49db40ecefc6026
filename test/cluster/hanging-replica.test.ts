import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { completeCall, retry, store, tokensOf, TOKENS_PER_CALL } from "../helpers/cluster-load.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import {
  clusterName,
  hasFaults,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const project_id = "acme/app";
let cluster: TestCluster;
/** Works with the first replica. */
let writer: ServiceProcess;
/** Works with the last one. */
let reader: ServiceProcess;

const fetching = (replica: number, action: "STOP" | "START") =>
  cluster.run(replica, `SYSTEM ${action} FETCHES ${cluster.database}.calls`);

describe.skipIf(!hasFaults || replicaCount !== 3)(`a replica that hangs, on ${clusterName}`, () => {
  beforeAll(async () => {
    cluster = await openCluster();
    writer = await cluster.start([1, 2, 3]);
    reader = await cluster.start([3, 2, 1]);
    await store(writer, [completeCall(project_id, "first", "t")]);
  });
  afterEach(() => cluster.heal());
  afterAll(() => cluster?.close());

  it.each([1, 2, 3])(
    "with rows that the others wait for does not delay reads, which contain all acknowledged rows (turn %i)",
    async (turn) => {
      await cluster.heal();
      const acknowledged = [...(await tokensOf(reader, project_id)).keys(), `call-${turn}`];
      // the last replica lacks a call that was acknowledged by the first two
      await fetching(3, "STOP");
      await store(writer, [completeCall(project_id, `call-${turn}`, "t")]);
      // the first one alone has rows that were acknowledged to nobody
      await fetching(2, "STOP");
      await cluster.run(1, "INSERT INTO calls SELECT * FROM calls LIMIT 1 SETTINGS insert_quorum = 0");
      await cluster.fault("stop", 1);
      await Promise.all([fetching(2, "START"), fetching(3, "START")]);

      // it hangs until the end of the test: whoever waits for it gets no answer, however often it is asked
      const { json } = await retry(reader, "/trace/usage", { project_id });
      const usage = json.call_usage as Record<string, { m: { prompt_tokens: number } }>;
      expect(Object.keys(usage).toSorted()).toEqual(acknowledged.toSorted());
      for (const id of acknowledged) expect(usage[id]!.m.prompt_tokens, id).toBe(TOKENS_PER_CALL);
    },
  );
});
