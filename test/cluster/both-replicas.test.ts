import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectServer } from "../../src/store/connect.ts";
import { sql } from "../../src/query/sql.ts";
import {
  completeCall,
  retry,
  RECEIPT_MS,
  send,
  store,
  tokensOf,
  TOKENS_PER_CALL,
  untilErased,
} from "../helpers/cluster-load.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import { until } from "../helpers/until.ts";
import { clusterName, openCluster, replicaCount, type TestCluster } from "../helpers/test-cluster.ts";

const TURNS = 8;
const project_id = "acme/app";
let cluster: TestCluster;
/** Each on a replica of its own, if a write needs all of them. */
let first: ServiceProcess;
let second: ServiceProcess;

describe.skipIf(replicaCount === 0)(`two services on ${clusterName}`, () => {
  beforeAll(async () => {
    cluster = await openCluster();
    first = await cluster.start(replicaCount > 2 ? [] : [1]);
    second = await cluster.start(replicaCount > 2 ? [] : [replicaCount]);
    await store(first, [completeCall(project_id, "warm", "w")]);
  });
  afterAll(() => cluster?.close());

  it("read at once what the other has acknowledged", async () => {
    for (let n = 0; n < TURNS; n++) {
      const [writer, reader] = n % 2 === 0 ? [first, second] : [second, first];
      const id = `seen-${n}`;
      await store(writer, [completeCall(project_id, id, "seen")]);
      expect((await tokensOf(reader, project_id, { trace_ids: ["seen"] })).get(id), id).toBe(TOKENS_PER_CALL);
    }
  });

  it.runIf(replicaCount > 2)("apply an end at a replica that does not have its start yet", async () => {
    const behind = await cluster.start([replicaCount]);
    await cluster.run(replicaCount, `SYSTEM STOP FETCHES ${cluster.database}.call_keys`);
    const ofCall = { project_id, id: "apart" };
    const start = { ...ofCall, trace_id: "apart", op_name: "op", attributes: {}, inputs: {} };
    await retry(first, "/call/start", { start: { ...start, started_at: "2026-01-01T00:00:00Z" } });
    const usage = { m: { requests: 1, prompt_tokens: TOKENS_PER_CALL, completion_tokens: 0 } };
    const end = { ...ofCall, ended_at: "2026-01-01T00:00:01Z", summary: { usage } };
    expect((await send(behind, "/call/end", { end })).status).toBe(503);
    await cluster.run(replicaCount, `SYSTEM START FETCHES ${cluster.database}.call_keys`);
    await retry(behind, "/call/end", { end });
    await until(
      async () =>
        (await tokensOf(first, project_id, { trace_ids: ["apart"] })).get("apart") === TOKENS_PER_CALL,
    );
  });

  it("accept at once a key that the other has created", async () => {
    for (let n = 0; n < TURNS; n++) {
      const made = await send(first, "/api-keys", { name: `k${n}`, scopes: ["read"], projects: ["acme/*"] });
      const { key } = made.json as { key: string };
      expect((await send(second, "/trace/usage", { project_id }, { key })).status).toBe(200);
    }
  });

  it(
    "complete the receipt of a deleted project of several months once no replica contains it",
    { timeout: RECEIPT_MS },
    async () => {
      const other = "acme/gone";
      await store(first, [completeCall(other, "g", "g")]);
      const inMarch = { started_at: "2026-03-01T00:00:00Z", ended_at: "2026-03-01T00:00:01Z" };
      const later = [completeCall(other, "h", "g"), completeCall(other, "i", "i", inMarch)];
      await retry(second, `/v2/${other}/calls/complete`, { batch: later });
      // what stays keeps the parts of both months, and January has had more of them
      await store(first, [completeCall(project_id, "stays", "stays", inMarch)]);
      for (const id of ["x", "y", "z"]) await store(first, [completeCall(project_id, id, "stays")]);
      const { json } = await retry(first, `/projects/${other}`, undefined, {
        method: "DELETE",
        status: 202,
      });
      await untilErased(second, json.id);
      for (const service of [first, second]) expect((await tokensOf(service, other)).size).toBe(0);
    },
  );

  it("without a cluster setting write equal rows to self-replicating tables twice", async () => {
    await cluster.run(
      1,
      "CREATE TABLE twice (n UInt8) ENGINE = ReplicatedMergeTree('/test/{database}/{shard}/twice', '{replica}') ORDER BY n",
    );
    const engine = connectServer(cluster.url(1));
    for (let turn = 0; turn < 2; turn++) await engine.insert("twice", [{ n: 1 }], { name: "test" });
    expect(await engine.rows(sql`SELECT count() AS n FROM twice`, { name: "test" })).toEqual([{ n: 2 }]);
    await engine.close();
  });
});
