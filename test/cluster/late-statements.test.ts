import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { completeCall, insist, send, store, tokensOf, untilErased } from "../helpers/cluster-load.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import { openLink, type Statement, type StatementLink } from "../helpers/statement-link.ts";
import {
  clusterName,
  countShards,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const shards = await countShards();
const project = "acme/app";
const ids = Array.from({ length: 20 }, (_, n) => `call-${n}`);
const numbers = Array.from({ length: replicaCount }, (_, index) => index + 1);

describe.skipIf(replicaCount < 2 || shards > 1)(`statements that act late, on ${clusterName}`, () => {
  let cluster: TestCluster;
  let links: readonly StatementLink[];
  let service: ServiceProcess;

  beforeAll(async () => {
    cluster = await openCluster();
    links = await Promise.all(numbers.map((replica) => openLink(cluster.url(replica))));
    service = await cluster.start([], { CLICKHOUSE_URL: links.map(({ url }) => url).join(",") });
    await store(service, [completeCall("acme/warm", "warm", "warm")]);
  });
  afterAll(async () => {
    await cluster?.close();
    for (const link of links ?? []) await link.close();
  });
  afterEach(() => {
    for (const link of links) Object.assign(link, { stalled: false, rule: () => "pass" });
  });

  /** Holds the first statement that fits, and takes its server for one that hangs until another server has been given the same. */
  const holdFirst = (fits: (statement: Statement) => boolean): (() => Statement) => {
    let first: { link: StatementLink; statement: Statement } | undefined;
    for (const link of links) {
      link.rule = (statement) => {
        if (!fits(statement)) return "pass";
        if (first === undefined) {
          first = { link, statement };
          link.stalled = true;
          return "hold";
        }
        if (first.link !== link) first.link.stalled = false;
        return "pass";
      };
    }
    return () => first!.statement;
  };
  const usable = () =>
    expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, { timeout: 60_000 }).toBe(200);
  const callsOf = async (prefix: string): Promise<string[]> =>
    [...(await tokensOf(service, project)).keys()].filter((id) => id.startsWith(prefix)).sort();

  it("delete nothing of a project that is used again after its deletion was acknowledged through another replica", async () => {
    const batch = (prefix: string) =>
      ids.map((id) => completeCall(project, `${prefix}-${id}`, `${prefix} ${id}`));
    await store(service, batch("first"));
    const late = holdFirst(({ name, text }) => name === "mutation_start" && /ALTER TABLE `calls`/.test(text));
    const { json } = await insist(service, `/projects/${project}`, undefined, {
      method: "DELETE",
      status: 202,
    });
    expect(await callsOf("first")).toEqual([]);
    await usable();
    await store(service, batch("second"));
    expect((await late().deliver()).status).toBe(200);
    expect(await callsOf("")).toHaveLength(ids.length);
    await untilErased(service, json.id);
    expect(await callsOf("second")).toHaveLength(ids.length);
  });

  it("change no name that was given after they were acknowledged through another replica", async () => {
    await store(service, [completeCall(project, "named", "named")]);
    const rename = (display_name: string) =>
      insist(service, "/call/update", { project_id: project, call_id: "named", display_name });
    const late = holdFirst(({ name }) => name === "calls_add");
    await rename("A");
    await usable();
    await rename("B");
    expect((await late().deliver()).status).toBe(200);
    const { json } = await send(service, "/call/read", { project_id: project, id: "named" });
    expect(json.call.display_name).toBe("B");
  });

  it("bring back nothing that was deleted after they were acknowledged through another replica", async () => {
    const other = "acme/late";
    const late = holdFirst(({ name }) => name === "calls_add");
    await insist(service, `/v2/${other}/calls/complete`, { batch: [completeCall(other, "late", "late")] });
    await usable();
    await insist(service, `/projects/${other}`, undefined, { method: "DELETE", status: 202 });
    expect((await late().deliver()).status).toBe(200);
    expect((await tokensOf(service, other)).size).toBe(0);
  });
});
