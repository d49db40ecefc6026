import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { KEYS_MS } from "../../src/http/auth/key-ring.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import {
  authorization,
  ROOT_KEY,
  startAppOn,
  startEngine,
  type TestApp,
  type TestEngine,
} from "../helpers/start-app.ts";

const DAY_MS = 86_400_000;
const MAX_MAKERS = 8;

let store: TestEngine;
let nowMs = Date.parse("2026-06-01T00:00:00Z");
let steadyMs = 1_000_000;
const processes: TestApp[] = [];

function startProcess(): Promise<TestApp> {
  return startAppOn(store.engine, {
    settings: { DATA_DIR: store.dir },
    deps: { clock: { now: () => nowMs }, steady: { now: () => steadyMs } },
  });
}

beforeAll(async () => {
  store = await startEngine();
  processes.push(await startProcess(), await startProcess());
});
afterAll(async () => {
  for (const one of processes) await one.close();
  await store.close();
});

interface ModelKey {
  readonly id: string;
  readonly text: string;
  readonly maker: ModelKey | undefined;
  readonly admin: boolean;
  readonly projects: readonly string[];
  readonly createdAtMs: number;
  readonly endsAtMs: number;
  revoked: boolean;
}

const lineOf = (key: ModelKey): readonly ModelKey[] => [
  key,
  ...(key.maker === undefined ? [] : lineOf(key.maker)),
];
const toIso = (ms: number): string | null => (ms === Infinity ? null : new Date(ms).toISOString());
const isRevoked = (key: ModelKey): boolean => lineOf(key).some((one) => one.revoked);
const endOf = (key: ModelKey): number => Math.min(...lineOf(key).map((one) => one.endsAtMs));
const isValid = (key: ModelKey): boolean => !isRevoked(key) && nowMs < endOf(key);

/** Written out, so that it shares nothing with what it is compared with. */
const WITHIN: Readonly<Record<string, readonly string[]>> = {
  "*": ["*", "acme/*", "acme/a", "acme/b", "other/c"],
  "acme/*": ["acme/*", "acme/a", "acme/b"],
  "acme/a": ["acme/a"],
  "acme/b": ["acme/b"],
  "other/c": ["other/c"],
};
const covers = (key: ModelKey | undefined, pattern: string): boolean =>
  (key?.projects ?? ["*"]).some((own) => WITHIN[own]!.includes(pattern));

type Step =
  | {
      kind: "make";
      by: number;
      admin: boolean;
      projects: readonly string[];
      days: number | null;
      at: number;
    }
  | { kind: "revoke"; by: number; key: number; at: number }
  | { kind: "wait"; days: number }
  | { kind: "restart"; at: number };

const number = fc.nat({ max: 1000 });
const at = fc.nat({ max: 1 });
const projects = fc.uniqueArray(fc.constantFrom(...Object.keys(WITHIN)), { minLength: 1, maxLength: 2 });
const make = fc.record({
  kind: fc.constant("make" as const),
  by: number,
  admin: fc.boolean(),
  projects,
  days: fc.option(fc.integer({ min: -1, max: 40 })),
  at,
});
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: make },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("revoke" as const), by: number, key: number, at }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("wait" as const), days: fc.integer({ min: 1, max: 20 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), at }) },
  ),
  { minLength: 5, maxLength: 25 },
);

class Lives {
  /** The first is the root key. */
  readonly keys: (ModelKey | undefined)[] = [undefined];

  async run(step: Step): Promise<void> {
    if (step.kind === "make") await this.make(step);
    else if (step.kind === "revoke") await this.revoke(step);
    else if (step.kind === "wait") nowMs += step.days * DAY_MS;
    else {
      await processes[step.at]!.close();
      processes[step.at] = await startProcess();
    }
  }

  pick(chosen: number): ModelKey | undefined {
    return this.keys[chosen % this.keys.length];
  }

  async make(step: Extract<Step, { kind: "make" }>): Promise<void> {
    const maker = this.pick(step.by);
    const endsAtMs = step.days === null ? null : nowMs + step.days * DAY_MS;
    const response = await processes[step.at]!.post(
      "/api-keys",
      {
        name: "k",
        scopes: [step.admin ? "admin" : "read"],
        projects: step.projects,
        expires_at: endsAtMs === null ? null : new Date(endsAtMs).toISOString(),
      },
      { key: maker?.text ?? ROOT_KEY },
    );
    const latestMs = maker === undefined ? Infinity : endOf(maker);
    expect([step, response.status]).toEqual([step, this.statusOf(step, { maker, endsAtMs, latestMs })]);
    if (response.status !== 201) return;
    const { id, key: text, created_by, expires_at } = response.json();
    const ends = endsAtMs ?? latestMs;
    expect([created_by, expires_at]).toEqual([maker?.id ?? "root", toIso(ends)]);
    const { admin, projects } = step;
    this.keys.push({
      id,
      text,
      maker,
      admin,
      projects,
      createdAtMs: nowMs,
      endsAtMs: ends,
      revoked: false,
    });
  }

  statusOf(
    step: Extract<Step, { kind: "make" }>,
    { maker, endsAtMs, latestMs }: { maker: ModelKey | undefined; endsAtMs: number | null; latestMs: number },
  ): number {
    if (maker !== undefined && !isValid(maker)) return 401;
    if (maker !== undefined && !maker.admin) return 403;
    if (step.projects.some((pattern) => !covers(maker, pattern))) return 403;
    if (maker !== undefined && lineOf(maker).length > MAX_MAKERS) return 403;
    if (endsAtMs !== null && (endsAtMs <= nowMs || endsAtMs > latestMs)) return 422;
    return 201;
  }

  async revoke(step: Extract<Step, { kind: "revoke" }>): Promise<void> {
    const [by, key] = [this.pick(step.by), this.pick(step.key)];
    // the process remembers all keys now
    await this.check(processes[step.at]!);
    const response = await processes[step.at]!.app.inject({
      method: "DELETE",
      url: `/api-keys/${key?.id ?? "root"}`,
      headers: { authorization: authorization(by?.text) },
    });
    let expected = 204;
    if (by !== undefined && !isValid(by)) expected = 401;
    else if (by !== undefined && !by.admin) expected = 403;
    else if (key === undefined || isRevoked(key) || key.projects.some((one) => !covers(by, one)))
      expected = 404;
    expect(response.statusCode).toBe(expected);
    if (expected !== 204) return;
    key!.revoked = true;
    await this.check(processes[step.at]!);
  }

  /** Which keys work, and which are listed. */
  async check(process: TestApp): Promise<void> {
    const known = this.keys.filter((key) => key !== undefined);
    const ask = (url: string, key?: string) =>
      process.app.inject({ method: "GET", url, headers: { authorization: authorization(key) } });
    const statuses = await Promise.all(known.map(async ({ text }) => (await ask("/me", text)).statusCode));
    expect(statuses).toEqual(known.map((key) => (isValid(key) ? 200 : 401)));
    const { api_keys } = (await ask("/api-keys")).json<{
      api_keys: { id: string; expires_at: string | null }[];
    }>();
    const ours = new Set(known.map(({ id }) => id));
    const listed = api_keys.filter(({ id }) => ours.has(id)).map(({ id, expires_at }) => [id, expires_at]);
    const expected = known
      .filter((key) => !isRevoked(key))
      .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1))
      .map((key) => [key.id, toIso(endOf(key))]);
    expect(listed).toEqual(expected);
  }

  /** Other processes notice within ten seconds. */
  async end(): Promise<void> {
    steadyMs += KEYS_MS;
    for (const process of processes) await this.check(process);
  }
}

it("a key is valid, in every process, as long as it and all its makers are, and never has more rights than they have", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const lives = new Lives();
      for (const step of sequence) {
        await lives.run(step);
        steadyMs += KEYS_MS;
        if (step.kind !== "make") for (const process of processes) await lives.check(process);
      }
      await lives.end();
    }),
    { numRuns: runs(2, 40), seed: chosenSeed(), endOnFailure: true },
  );
});
