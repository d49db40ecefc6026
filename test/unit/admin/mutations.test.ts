import { expect, it } from "vitest";
import { createMutations } from "../../../src/admin/projects/mutations.ts";
import type { Engine } from "../../../src/store/engine.ts";

interface Listed {
  readonly tag: string;
  /** 1 and 2 are of the first shard, 3 and 4 of the second. */
  readonly replica: number;
  readonly table: string;
  readonly done: 0 | 1;
}

async function runningOf(listed: readonly Listed[]): Promise<readonly string[]> {
  const rows = (_statement: unknown, { name }: { name: string }) =>
    Promise.resolve(name === "mutations_shards" ? [1, 1, 2, 2].map((shard) => ({ shard })) : listed);
  const engine = { rows } as unknown as Engine;
  return [...(await createMutations(engine, "c").running())];
}

it.each([
  ["is done on all replicas of each shard that has it", [1, 2], [], false],
  ["is done on every shard", [1, 2, 3, 4], [], false],
  ["runs on one replica", [1, 2, 3], [4], true],
  ["runs on all", [], [1, 2, 3, 4], true],
  ["is not listed by a replica, which is away or has not heard of it", [1, 2, 3], [], true],
  ["was removed from the list after its end", [], [], false],
] as const)("a mutation that %s", async (_what, done, running, isRunning) => {
  const of = (replicas: readonly number[], isDone: 0 | 1) =>
    replicas.map((replica) => ({ tag: "calls 1", replica, table: "calls", done: isDone }));
  const others = [1, 2].map((replica) => ({ tag: "calls 2", replica, table: "calls", done: 1 as const }));
  expect(await runningOf([...of(done, 1), ...of(running, 0), ...others])).toEqual(
    isRunning ? ["calls 1"] : [],
  );
});

it("mutations of a tag are done when those of all of its tables are", async () => {
  const feedback = [1, 2].map((replica) => ({
    tag: "deletion 1",
    replica,
    table: "feedback",
    done: 1 as const,
  }));
  const calls = { tag: "deletion 1", table: "calls" };
  const left = [
    { ...calls, replica: 1, done: 1 as const },
    { ...calls, replica: 2, done: 0 as const },
  ];
  expect(await runningOf([...feedback, ...left])).toEqual(["deletion 1"]);
});
