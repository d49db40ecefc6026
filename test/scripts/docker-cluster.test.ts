import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";

const ROOT = join(import.meta.dirname, "../..");
const FILES = "compose docker-compose.cluster.yml:.ci/docker-cluster.yml";
const FILES_OF_SHARDS = "compose docker-compose.cluster.yml:docker-compose.shards.yml:.ci/docker-cluster.yml";
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

interface Compose {
  readonly name?: string;
  readonly services: Readonly<Record<string, { readonly ports?: string[]; readonly volumes?: string[] }>>;
  readonly volumes?: object;
}
const base = parse(read("docker-compose.cluster.yml"), { merge: true }) as Compose;
const override = parse(read(".ci/docker-cluster.yml")) as Compose;

/** `docker` and `npm` that only write down how they were called; a call that contains `FAIL` fails. */
const RECORD = `#!/usr/bin/env bash
line="$(basename "$0") $*"
line=\${line/#docker compose/docker compose $COMPOSE_FILE}
echo "$line" >> "$RECORD"
if [[ $(basename "$0") = npm ]]; then echo "$CLUSTER_URLS $CLUSTER_NAME $CLUSTER_FAULTS" >> "$RECORD"; fi
if [[ -n \${FAIL:-} && $line = *"$FAIL"* ]]; then exit 7; fi
`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sumtree-docker-"));
  for (const name of ["docker", "npm"]) writeFileSync(join(dir, name), RECORD, { mode: 0o755 });
});
afterEach(() => rmSync(dir, { recursive: true }));

/** Runs one of ours with them; what it called, and how it ended. */
async function run(
  command: string,
  args: readonly string[],
  { fail = "", more = {} }: { fail?: string; more?: object } = {},
): Promise<{ code: number; calls: string[] }> {
  const record = join(dir, "record");
  const env = { PATH: `${dir}:${process.env["PATH"]}`, RECORD: record, FAIL: fail, ...more };
  const code = await promisify(execFile)(join(ROOT, command), args, { env }).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
  return { code, calls: existsSync(record) ? readFileSync(record, "utf8").trim().split("\n") : [] };
}

describe(".ci/docker-faults", () => {
  it.each([
    ["kill", "2", ["kill clickhouse-2"]],
    ["stop", "keeper", ["pause keeper"]],
    ["start", "1", ["unpause clickhouse-1", "up --detach --no-deps --wait clickhouse-1"]],
  ] as const)("%s %s", async (fault, target, calls) => {
    expect(await run(".ci/docker-faults", [fault, target])).toEqual({
      code: 0,
      calls: calls.map((call) => `docker ${FILES} ${call}`),
    });
  });

  it("wipe removes the container and its volume, also of a stopped server", async () => {
    const { code, calls } = await run(".ci/docker-faults", ["wipe", "1"], { fail: " kill " });
    expect(code).toBe(0);
    expect(calls.slice(1)).toEqual([
      `docker ${FILES} rm --force --stop clickhouse-1`,
      "docker volume rm sumtree-cluster_clickhouse-1",
    ]);
    expect(base.name).toBe("sumtree-cluster");
    expect(Object.keys(base.volumes!)).toContain("clickhouse-1");
  });

  it("start reverts a kill, if nothing is paused", async () => {
    expect((await run(".ci/docker-faults", ["start", "2"], { fail: "unpause" })).code).toBe(0);
  });

  it.each(["kill", "stop", "wipe", "start"])("%s fails if Docker fails", async (fault) => {
    const last = { kill: " kill ", stop: "pause", wipe: "volume", start: " up " }[fault]!;
    expect((await run(".ci/docker-faults", [fault, "1"], { fail: last })).code).toBe(7);
  });

  it("rejects unknown arguments", async () => {
    expect(await run(".ci/docker-faults", ["drown", "1"])).toEqual({ code: 2, calls: [] });
  });
});

describe(".ci/docker-cluster", () => {
  it("starts the servers, runs the suites on the published ports, and removes everything", async () => {
    const { code, calls } = await run(".ci/docker-cluster", []);
    expect(code).toBe(0);
    const ports = ["clickhouse-1", "clickhouse-2"].map(
      (server) => /^127\.0\.0\.1:(\d+):8123$/.exec(override.services[server]!.ports![0]!)![1],
    );
    expect(calls).toEqual([
      `docker ${FILES} up --detach --wait keeper clickhouse-1 clickhouse-2`,
      "npm run test:cluster -- both-replicas starts",
      `${ports.map((port) => `http://sumtree:for-tests-only@127.0.0.1:${port}`).join(",")} sumtree ${join(ROOT, ".ci/docker-faults")}`,
      `docker ${FILES} down --volumes --timeout 5`,
    ]);
  });

  it("starts the same servers as shards", async () => {
    const { code, calls } = await run(".ci/docker-cluster", [], { more: { SHAPE: "shards" } });
    expect(code).toBe(0);
    expect(calls[0]).toBe(`docker ${FILES_OF_SHARDS} up --detach --wait keeper clickhouse-1 clickhouse-2`);
    expect(calls[1]).toBe("npm run test:cluster -- cluster/shards");
    expect(calls.at(-1)).toBe(`docker ${FILES_OF_SHARDS} down --volumes --timeout 5`);
    expect(await run(".ci/docker-faults", ["kill", "1"], { more: { COMPOSE_FILE: "a.yml" } })).toMatchObject({
      code: 0,
      calls: expect.arrayContaining(["docker compose a.yml kill clickhouse-1"]),
    });
  });

  it("rejects an unknown layout", async () => {
    expect(await run(".ci/docker-cluster", [], { more: { SHAPE: "rings" } })).toEqual({ code: 2, calls: [] });
  });

  it("runs the given suites; if they fail, it shows the servers' logs, removes everything and fails", async () => {
    const { code, calls } = await run(".ci/docker-cluster", ["failover"], { fail: "test:cluster" });
    expect(code).toBe(7);
    expect(calls[1]).toBe("npm run test:cluster -- failover");
    expect(calls.slice(-2)).toEqual([
      `docker ${FILES} logs --tail 200`,
      `docker ${FILES} down --volumes --timeout 5`,
    ]);
  });

  it("uses existing services and files, and CI runs it", () => {
    expect(Object.keys(base.services)).toEqual(expect.arrayContaining(Object.keys(override.services)));
    for (const volume of Object.values(override.services).flatMap((service) => service.volumes ?? []))
      expect(existsSync(join(ROOT, volume.split(":")[0]!)), volume).toBe(true);
    const { jobs } = parse(read(".github/workflows/nightly.yml")) as {
      jobs: Record<
        string,
        { strategy?: { matrix: object }; steps: { run?: string; env?: Record<string, string> }[] }
      >;
    };
    const { strategy, steps } = jobs["cluster"]!;
    expect(strategy!.matrix).toEqual({ shape: ["replicas", "shards"] });
    expect(steps.find((step) => step.run === ".ci/docker-cluster")!.env).toEqual({
      SHAPE: "${{ matrix.shape }}",
    });
  });
});
