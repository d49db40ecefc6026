import { afterAll, beforeAll, expect, it } from "vitest";
import { createPointStore } from "../../src/agent-metrics/point-store.ts";
import { FairSemaphore } from "../../src/fairness/fair-semaphore.ts";
import { agentPointOf } from "../../src/ingest/otlp/agents/agent-point-of.ts";
import type { OtelMetricPoint } from "../../src/ingest/otlp/metric-point.ts";
import { unflatten } from "../../src/ingest/otlp/unflatten.ts";
import type { Project } from "../../src/shared/project.ts";
import { sql } from "../../src/query/sql.ts";
import { addKey } from "../helpers/add-key.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

const DAY = { start: "2026-01-15T00:00:00Z", end: "2026-01-16T00:00:00Z" };
const COMMITS = "claude_code.commit.count";

interface Draft {
  readonly metric: string;
  readonly value: number;
  /** ISO 8601, or a time of the day. */
  readonly at: string;
  /** Its series is cumulative since then. */
  readonly since?: string;
  readonly kind?: OtelMetricPoint["kind"];
  readonly resource?: Readonly<Record<string, unknown>>;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

let test: TestApp;
let write: (project: string, ...drafts: readonly Draft[]) => Promise<void>;
beforeAll(async () => {
  test = await startApp();
  const pending = new FairSemaphore({ capacity: 1e9 });
  const store = createPointStore(test.engine, { lingerMs: 1, pending });
  write = (project, ...drafts) =>
    store.write(drafts.flatMap((draft) => agentPointOf(toSent(project, draft)) ?? []));
});
afterAll(() => test.close());

const instantOf = (text: string): string => (text.includes("T") ? text : `2026-01-15T${text}Z`);
const nanosOf = (text: string): bigint => BigInt(Date.parse(instantOf(text))) * 1_000_000n;

function toSent(project: string, draft: Draft) {
  const { metric, value, at, since, resource = {}, attributes = {} } = draft;
  const resources = new Map(Object.entries(resource));
  return {
    project: project as Project,
    apiKey: "key-1",
    origin: {
      resource: resources,
      nestedResource: unflatten(resources),
      scopeName: "com.anthropic.claude_code",
      scopeVersion: "2.1",
    },
    point: {
      metric,
      value,
      kind: draft.kind ?? (since === undefined ? "delta" : "cumulative"),
      startedAtNanos: since === undefined ? 0n : nanosOf(since),
      atNanos: nanosOf(at),
      attributes: new Map(Object.entries(attributes)),
    },
  } as const;
}

const NOTHING = {
  active_seconds: null,
  lines_added: null,
  lines_removed: null,
  commits: null,
  pull_requests: null,
  edits_accepted: null,
  edits_rejected: null,
  sessions: null,
  reported_tokens: null,
  reported_cost: null,
};

async function ask(project_id: string, more: object = {}) {
  const response = await test.post("/agents/stats", { project_id, ...DAY, ...more });
  expect(response.status, response.text).toBe(200);
  return response.json();
}
const commitsOf = async (project_id: string, more: object = {}): Promise<number | null> =>
  (await ask(project_id, more)).total.commits;

it("adds up what each agent reports; what none reports is null; other metrics are nothing", async () => {
  const project = "acme/agents";
  const sent = (metric: string, value: number, attributes = {}) => ({
    metric,
    value,
    attributes,
    at: "10:00:00",
  });
  await write(
    project,
    sent("claude_code.active_time.total", 12.5, { type: "user" }),
    sent("claude_code.active_time.total", 30, { type: "cli" }),
    sent("claude_code.lines_of_code.count", 7, { type: "added" }),
    sent("claude_code.lines_of_code.count", 9, { type: "moved" }),
    sent("claude_code.code_edit_tool.decision", 3, { decision: "accept", tool_name: "Edit" }),
    sent("claude_code.code_edit_tool.decision", 1, { decision: "reject", tool_name: "Edit" }),
    sent("gemini_cli.lines.changed", 5, { type: "added", function_name: "write_file" }),
    sent("copilot_chat.edit.acceptance.count", 2, { "copilot_chat.edit.outcome": "accepted" }),
    sent("copilot_chat.edit.acceptance.count", 4, { "copilot_chat.edit.outcome": "saved" }),
    sent("copilot_chat.pull_request.count", 1),
    sent("droid.git.commits", 6),
    sent("toString", 100),
    sent("gen_ai.client.token.usage", 1000),
    sent(COMMITS, -5),
    sent(COMMITS, Number.NaN),
    { ...sent("claude_code.session.count", 1), at: "1970-01-01T00:00:00Z" },
  );
  const total = {
    ...NOTHING,
    active_seconds: 42.5,
    lines_added: 12,
    commits: 6,
    pull_requests: 1,
    edits_accepted: 5,
    edits_rejected: 1,
  };
  expect(await ask(project)).toEqual({
    start: "2026-01-15T00:00:00.000Z",
    end: "2026-01-16T00:00:00.000Z",
    timezone: "UTC",
    groups: [{ key: {}, total }],
    other: null,
    total,
  });
  expect(await ask("acme/none")).toMatchObject({ groups: [], other: null, total: NOTHING });
});

it("counts a point once, however often it is sent", async () => {
  const delta: Draft = { metric: COMMITS, value: 2, at: "10:00:00" };
  const cumulative: Draft = { metric: "droid.git.commits", value: 3, at: "10:00:00", since: "09:00:00" };
  for (let times = 0; times < 3; times++) await write("acme/again", delta, cumulative, delta);
  expect(await commitsOf("acme/again")).toBe(5);
  await write("acme/again", { ...delta, at: "10:01:00" }, { ...cumulative, at: "10:01:00" });
  expect(await commitsOf("acme/again")).toBe(7);
});

it("reads the differences of a cumulative series: resets, late points, and those across the window's start", async () => {
  const project = "acme/cumulative";
  const point = (at: string, value: number): Draft => ({
    metric: COMMITS,
    at,
    value,
    since: "2026-01-13T20:00:00Z",
  });
  // the day before ends at 10; then 3 more, a reset, 2, and 6 more
  await write(project, point("00:30:00", 11), point("02:00:00", 2), point("2026-01-14T08:00:00Z", 4));
  await write(project, point("03:00:00", 8), point("2026-01-14T23:59:59.999Z", 10), point("01:00:00", 13));
  expect(await commitsOf(project)).toBe(3 + 2 + 6);
  expect(await commitsOf(project, { start: "2026-01-14T00:00:00Z", end: DAY.start })).toBe(10);
  expect(await commitsOf(project, { start: "2026-01-13T00:00:00Z" })).toBe(21);
  expect(await commitsOf(project, { start: "2026-01-15T02:30:00Z" })).toBe(6);
  // inclusive start, exclusive end
  expect(await commitsOf(project, { start: "2026-01-15T01:00:00Z", end: "2026-01-15T03:00:00Z" })).toBe(
    2 + 2,
  );
  // it is known to be nothing
  await write(project, point("04:00:00", 8));
  expect(await commitsOf(project, { start: "2026-01-15T03:30:00Z" })).toBe(0);
  expect(await commitsOf(project, { start: "2026-01-15T05:00:00Z" })).toBeNull();
});

it("keeps processes apart that share a session and differ in their start, in any order and any window", async () => {
  const random = seededRandom();
  const below = (most: number): number => Math.floor(random.next() * most);
  const at = (minute: number): string => new Date(Date.parse(DAY.start) + minute * 60_000).toISOString();
  for (let run = 0; run < runs(3, 40); run++) {
    const project = `acme/processes-${run}`;
    const sent: { readonly draft: Draft; readonly minute: number; readonly made: number }[] = [];
    for (let process = 0; process < 4; process++) {
      const kind = process % 2 === 0 ? "cumulative" : "delta";
      const started = below(600);
      let value = 0;
      for (let minute = started + 1; minute < 1440; minute += 1 + below(120)) {
        const isReset = value > 0 && below(8) === 0;
        const made = isReset ? below(value) : below(5);
        value = isReset || kind === "delta" ? made : value + made;
        sent.push({
          draft: { metric: COMMITS, kind, value, at: at(minute), since: at(started) },
          minute,
          made,
        });
      }
    }
    const shuffled = sent
      .map((one) => ({ ...one, place: random.next() }))
      .toSorted((a, b) => a.place - b.place);
    // with points that are sent twice
    for (let from = 0; from < shuffled.length; from += 25)
      await write(project, ...shuffled.slice(from, from + 30).map(({ draft }) => draft));
    const [first, last] = [below(720), 720 + below(720)];
    const within = sent.filter(({ minute }) => minute >= first && minute < last);
    const made = within.reduce((sum, one) => sum + one.made, 0);
    expect(await commitsOf(project, { start: at(first), end: at(last) }), `run ${run}`).toBe(made);
  }
});

it("groups by session, user, key and kept attributes; the groups beyond the limit are others", async () => {
  const project = "acme/groups";
  const sent = (user: string, team: string | undefined, seconds: number): Draft => ({
    metric: "claude_code.active_time.total",
    value: seconds,
    at: "10:00:00",
    resource: { ...(team !== undefined && { "team.id": team }), "host.name": "secret", billing: "api" },
    attributes: { "user.email": user, "user.id": "installation", "session.id": `of ${user}`, type: "cli" },
  });
  await write(project, sent("ann", "pay", 10), sent("bob", "pay", 20), sent("cid\n\"'", undefined, 5));
  await write(project, { metric: COMMITS, value: 1, at: "10:00:00", attributes: { "user.email": "bob" } });
  const seconds = async (group_by: unknown, more: object = {}) => {
    const { groups, other, total } = await ask(project, { group_by, ...more });
    const shown = groups.map(({ key, total }: { key: object; total: { active_seconds: number | null } }) => [
      ...Object.values(key),
      total.active_seconds,
    ]);
    return { shown, other: other && [other.groups, other.total.active_seconds], total: total.active_seconds };
  };
  const all = { other: null, total: 35 };
  expect(await seconds(["svc_user_id"])).toEqual({
    shown: [
      ["bob", 20],
      ["ann", 10],
      ["cid\n\"'", 5],
    ],
    ...all,
  });
  expect(await seconds([{ $getField: "attributes.team.id" }])).toEqual({
    shown: [
      ["pay", 30],
      [null, 5],
    ],
    ...all,
  });
  expect(
    (await seconds(["thread_id", "api_key", { $getField: "attributes.sumtree.billing" }])).shown,
  ).toEqual([
    ["of bob", "key-1", "api", 20],
    ["of ann", "key-1", "api", 10],
    ["of cid\n\"'", "key-1", "api", 5],
    [null, "key-1", null, null],
  ]);
  expect(await seconds(["svc_user_id"], { limit: 1 })).toEqual({
    shown: [["bob", 20]],
    other: [2, 15],
    total: 35,
  });
  expect((await seconds([{ $getField: "attributes.host.name" }])).shown).toEqual([[null, 35]]);
  const { groups } = await ask(project, { group_by: ["svc_user_id"] });
  expect(groups[1]).toEqual({ key: { svc_user_id: "ann" }, total: { ...NOTHING, active_seconds: 10 } });
  expect(groups[0].total.commits).toBe(1);
});

it("refuses other groups and reversed windows", async () => {
  const statusOf = async (more: object) =>
    (await test.post("/agents/stats", { project_id: "acme/x", ...DAY, ...more })).status;
  for (const group_by of [
    ["llm"],
    [{ $getField: "op_name" }],
    [{ $getField: "attributes" }],
    ["api_key", "api_key"],
  ])
    expect(await statusOf({ group_by })).toBe(422);
  const four = ["a", "b", "c", "d"].map((name) => ({ $getField: `attributes.${name}` }));
  expect([await statusOf({ group_by: four }), await statusOf({ group_by: four.slice(1) })]).toEqual([
    422, 200,
  ]);
  expect(await statusOf({ group_by: [{ $getField: `attributes${".a".repeat(600)}` }] })).toBe(422);
  expect(await statusOf({ end: "2026-01-01T00:00:00Z" })).toBe(422);
  expect(await statusOf({ start: "0001-01-01T00:00:00Z", end: "9999-01-01T00:00:00Z" })).toBe(200);
});

it("keeps usage that agents report for a day, and adds none of it to usage", async () => {
  const project_id = "acme/reported";
  const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
  const claude = { metric: "claude_code.token.usage" };
  const gemini = { metric: "gemini_cli.token.usage", value: 3, at: ago(3), since: ago(4) };
  const cursor = { metric: "cursor.cost.usage", since: ago(50) };
  await write(
    project_id,
    { ...claude, value: 10, at: ago(1), attributes: { type: "input" } },
    { ...claude, value: 90, at: ago(2), attributes: { type: "cacheRead" } },
    { ...claude, value: 500, at: ago(25), attributes: { type: "input" } },
    { ...gemini, attributes: { type: "output" } },
    // part of the input
    { ...gemini, attributes: { type: "cache" } },
    // only what came since the first point that is kept is known to be of the last day
    { ...cursor, value: 5, at: ago(26) },
    { ...cursor, value: 7, at: ago(20) },
    { ...cursor, value: 7.5, at: ago(10) },
  );
  const window = { start: ago(100), end: ago(0) };
  const { total } = await ask(project_id, window);
  expect([total.reported_tokens, total.reported_cost]).toEqual([10 + 90 + 3, 0.5]);
  const usage = await test.post("/usage/stats", { project_id, ...window });
  expect(usage.json().total).toMatchObject({ calls: 0, total_tokens: 0 });
  await test.engine.command(sql`OPTIMIZE TABLE agent_points FINAL`, { name: "test", tables: "per_shard" });
  expect((await ask(project_id, window)).total).toEqual(total);
});

it("shows a project to its own keys alone, and nothing of one that is deleted", async () => {
  for (const project of ["acme/one", "acme/two"])
    await write(project, { metric: COMMITS, value: 1, at: "10:00:00" });
  const key = await addKey(test, ["read"], ["acme/two"]);
  const as = (project_id: string) => test.post("/agents/stats", { project_id, ...DAY }, { key });
  expect([(await as("acme/one")).status, (await as("acme/two")).status]).toEqual([403, 200]);
  await write("acme/one", { metric: COMMITS, value: 4, at: "11:00:00" });
  expect([await commitsOf("acme/one"), await commitsOf("acme/two")]).toEqual([5, 1]);
  const headers = { authorization: authorization() };
  const deleted = await test.app.inject({ method: "DELETE", url: "/projects/acme/one", headers });
  expect(deleted.statusCode).toBe(202);
  expect([await commitsOf("acme/one"), await commitsOf("acme/two")]).toEqual([null, 1]);
});
