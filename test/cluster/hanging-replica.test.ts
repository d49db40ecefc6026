import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  complete,
  completeCall,
  send,
  tokensOf,
  TOKENS_PER_CALL,
  untilDone,
} from "../helpers/cluster-load.ts";
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
    await untilDone(() => complete(writer, [completeCall(project_id, "first", "t")]), { withinMs: 60_000 });
  });
  afterEach(() => cluster.heal());
  afterAll(() => cluster?.close());

  it.each([1, 2, 3])(
    "with rows that the others wait for does not hold up reads, and these have all that was acknowledged (turn %i)",
    async (turn) => {
      await cluster.heal();
      const acknowledged = [...(await tokensOf(reader, project_id)).keys(), `call-${turn}`];
      // the last replica lacks a call that was acknowledged by the first two
      await fetching(3, "STOP");
      const { status, text } = await complete(writer, [completeCall(project_id, `call-${turn}`, "t")]);
      expect([status, text]).toEqual([200, expect.anything()]);
      // the first one alone has rows that were acknowledged to nobody
      await fetching(2, "STOP");
      await cluster.run(1, "INSERT INTO calls SELECT * FROM calls LIMIT 1 SETTINGS insert_quorum = 0");
      await cluster.fault("stop", 1);
      await Promise.all([fetching(2, "START"), fetching(3, "START")]);

      const read = await send(reader, "/trace/usage", { project_id });
      expect(read.status, read.text).toBe(200);
      const usage = read.json.call_usage as Record<string, { m: { prompt_tokens: number } }>;
      expect(Object.keys(usage).toSorted()).toEqual(acknowledged.toSorted());
      for (const id of acknowledged) expect(usage[id]!.m.prompt_tokens, id).toBe(TOKENS_PER_CALL);
    },
  );
});
