import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anthropic, gemini, openaiChat, responses } from "../models/chat-formats/api-formats.ts";
import { ratingsOf, type Condition, type Feedback, type Rating } from "../models/ratings.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let other: TestApp;
beforeAll(async () => {
  test = await startApp();
  other = await startAppOn(test.engine);
});
afterAll(async () => {
  await other.close();
  await test.close();
});

const random = seededRandom();
const below = (most: number): number => Math.floor(random.next() * most);
const oneOf = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;
const chance = (part: number): boolean => random.next() < part;

const CALLS = 60;
const PROMPTS = ["Where is it?", "When does it come?", "Can I return it?"];
const FORMATS = [openaiChat, anthropic, responses, gemini];
const KINDS = ["chat", "chat", "chat", "chat", "chat", "chat", "embedding", "failed", "unfinished"] as const;
const CONDITIONS: readonly Condition[] = [
  { json_path: "score", op: "$gte", value: 0.5 },
  { feedback_type: "user", json_path: "passed", op: "$eq", value: true },
  { json_path: "label", op: "$in", value: ["good", "fine"] },
];

/** A call as it was written, with what an example of it says. */
interface Written {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly thread: string | null;
  readonly op: string;
  readonly startedMs: number;
  readonly kind: (typeof KINDS)[number];
  readonly prompt: string;
  readonly answer: string;
}

interface Question {
  readonly format: "chat" | "preference" | "trajectories";
  readonly filter?: { readonly trace_ids: readonly string[] };
  readonly query?: object;
  readonly feedback?: Condition;
  readonly only?: "roots" | "leaves" | "last_of_thread";
  readonly dedupe?: boolean;
  readonly seed?: number;
  readonly holdout?: number;
  readonly limit?: number;
}

type Verdict = string | { readonly line: number };

class Project {
  readonly id: string;
  calls: Written[] = [];
  feedback: Feedback[] = [];

  constructor(id: string) {
    this.id = id;
  }

  async write(): Promise<void> {
    for (let at = 0; at < CALLS; at++) {
      const before = this.calls.length === 0 || chance(0.4) ? undefined : oneOf(this.calls);
      const prompt = oneOf(PROMPTS);
      this.calls.push({
        id: `c${at}`,
        trace: before?.trace ?? `t${at}`,
        parent: before !== undefined && chance(0.6) ? before.id : null,
        thread: chance(0.4) ? null : `h${below(6)}`,
        op: oneOf(["answer", "plan"]),
        startedMs: Date.UTC(2026, 3, 1) + below(50) * 1_800_000,
        kind: oneOf(KINDS),
        prompt,
        // some examples repeat
        answer: chance(0.3) ? "It depends." : `I am ${at}.`,
      });
    }
    const batch = this.calls.map((call) => this.#message(call));
    expect((await test.post(`/v2/${this.id}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
    for (let at = 0; at < CALLS * 1.5; at++) await this.#rate(at);
    const deleted = this.calls.filter(() => chance(0.1));
    if (deleted.length > 0) {
      const call_ids = deleted.map(({ id }) => id);
      const response = await test.post("/calls/delete", { project_id: this.id, call_ids });
      expect(response.status, response.text).toBe(200);
      // below a deleted call, everything is deleted
      const gone = new Set(call_ids);
      for (let size = -1; size !== gone.size;) {
        size = gone.size;
        for (const { id, parent } of this.calls) if (parent !== null && gone.has(parent)) gone.add(id);
      }
      this.calls = this.calls.filter(({ id }) => !gone.has(id));
    }
    const purged = this.feedback.filter(() => chance(0.1));
    if (purged.length === 0) return;
    const $in = [{ $getField: "id" }, purged.map(({ id }) => ({ $literal: id }))];
    const response = await test.post("/feedback/purge", { project_id: this.id, query: { $expr: { $in } } });
    expect(response.status, response.text).toBe(200);
    this.feedback = this.feedback.filter((one) => !purged.includes(one));
  }

  #message({ id, trace, parent, thread, op, startedMs, kind, prompt, answer }: Written): object {
    const conversation = {
      system: undefined,
      turns: [{ by: "user", texts: [prompt], image: undefined }],
      answer: { text: answer, calls: [] },
      tools: [],
    } as const;
    const embedding = { inputs: { model: "e", input: prompt }, output: { data: [{ embedding: [1] }] } };
    return {
      project_id: this.id,
      id,
      trace_id: trace,
      parent_id: parent,
      thread_id: thread,
      op_name: op,
      started_at: new Date(startedMs).toISOString(),
      ...(kind !== "unfinished" && { ended_at: new Date(startedMs + 1000).toISOString() }),
      ...(kind === "failed" && { exception: "boom" }),
      attributes: {},
      summary: {},
      ...(kind === "embedding" ? embedding : oneOf(FORMATS)(conversation)),
    };
  }

  async #rate(at: number): Promise<void> {
    const one = {
      weave_ref: `weave:///${this.id}/call/${oneOf(this.calls).id}`,
      feedback_type: oneOf(["user", "judge"]),
      // late ones come first as often as last
      created_at: new Date(Date.UTC(2026, 3, 3) + below(1000) * 60_000 + at).toISOString(),
      payload: oneOf([
        { score: below(10) / 10 },
        { passed: chance(0.5) },
        { label: oneOf(["good", "poor"]) },
      ]),
    };
    const response = await test.post("/feedback/create", { project_id: this.id, ...one });
    expect(response.status, response.text).toBe(200);
    this.feedback.push({ ...one, id: response.json().id as string });
  }

  /** The selected calls in order, with their ratings. */
  selected({ filter, query, feedback, format, only }: Question) {
    const ratings = feedback === undefined ? undefined : ratingsOf(this.id, this.feedback, feedback);
    const isSelected = ({ id, trace, op }: Written): boolean => {
      if (filter !== undefined && !filter.trace_ids.includes(trace)) return false;
      if (query !== undefined && op !== "answer") return false;
      const rating = ratings?.get(id);
      if (ratings === undefined) return true;
      return rating !== undefined && (format === "preference" || rating.passed);
    };
    const ofThread = ({ thread }: Written): string => (only === "last_of_thread" ? (thread ?? "") : "");
    const sorted = this.calls.filter(isSelected).toSorted((one, other) => {
      const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
      return (
        order(ofThread(one), ofThread(other)) || one.startedMs - other.startedMs || order(one.id, other.id)
      );
    });
    return { ratings, calls: sorted };
  }
}

/** Decides for each selected call, in order, without reading what the service stores. */
function decide(project: Project, question: Question): { verdicts: Map<string, Verdict>; lines: string[] } {
  const { only, format, dedupe = false, limit = Infinity, holdout = 0, seed = 0 } = question;
  const { calls, ratings } = project.selected(question);
  const verdicts = new Map<string, Verdict>();
  const lines: string[] = [];
  const reasonOf = (call: Written): string | undefined => {
    if (only === "roots" && call.parent !== null) return "has_parent";
    if (only === "leaves" && project.calls.some(({ parent }) => parent === call.id)) return "has_children";
    return { chat: undefined, embedding: "not_a_chat", failed: "failed", unfinished: "unfinished" }[
      call.kind
    ];
  };
  const lastOf = new Map(
    calls.filter((call) => reasonOf(call) === undefined).map(({ thread, id }) => [thread, id]),
  );
  const isHeldOut = (trace: string): boolean => {
    const drawn = createHash("sha256").update(`${seed} ${trace}`).digest().readUIntBE(0, 6);
    return drawn < holdout * 2 ** 48;
  };
  const exampleOr = (call: Written): string | undefined => {
    const reason = reasonOf(call);
    if (reason !== undefined) return reason;
    const isLast = call.thread === null || lastOf.get(call.thread) === call.id;
    if (only === "last_of_thread" && !isLast) return "not_last_of_thread";
    return isHeldOut(call.trace) ? "held_out" : undefined;
  };
  const write = (ids: readonly string[], line: string): void => {
    const isRepeated = dedupe && lines.includes(line);
    const verdict = isRepeated ? "duplicate" : { line: lines.push(line) };
    for (const id of ids) verdicts.set(id, verdict);
  };
  if (format === "preference") {
    const waiting: { call: Written; passed: boolean }[] = [];
    const pairs: { chosen: Written; rejected: Written }[] = [];
    for (const call of calls) {
      const reason = exampleOr(call);
      if (reason !== undefined) {
        verdicts.set(call.id, reason);
        continue;
      }
      const { passed } = ratings!.get(call.id)!;
      const at = waiting.findIndex((one) => one.call.prompt === call.prompt && one.passed !== passed);
      if (at === -1) waiting.push({ call, passed });
      else {
        const first = waiting.splice(at, 1)[0]!.call;
        pairs.push(passed ? { chosen: call, rejected: first } : { chosen: first, rejected: call });
      }
    }
    for (const { call } of waiting) verdicts.set(call.id, "no_counterpart");
    const placeOf = ({ id }: Written): number => calls.findIndex((call) => call.id === id);
    for (const { chosen, rejected } of pairs.toSorted((a, b) => placeOf(a.chosen) - placeOf(b.chosen))) {
      const ids = [chosen.id, rejected.id];
      const said = ({ answer: content }: Written) => [{ role: "assistant", content }];
      const prompt = [{ role: "user", content: chosen.prompt }];
      if (chosen.answer === rejected.answer) for (const id of ids) verdicts.set(id, "same_answer");
      else write(ids, JSON.stringify({ prompt, chosen: said(chosen), rejected: said(rejected) }));
    }
    return { verdicts, lines };
  }
  for (const call of calls) {
    const rating = ratings?.get(call.id);
    const isReward = format === "chat" || rating?.value != null;
    const reason =
      lines.length >= limit ? "over_limit" : (exampleOr(call) ?? (isReward ? undefined : "no_reward"));
    if (reason !== undefined) verdicts.set(call.id, reason);
    else write([call.id], lineOf(call, format, rating));
  }
  return { verdicts, lines };
}

function lineOf({ id, trace, prompt, answer }: Written, format: string, rating: Rating | undefined): string {
  const asked = { role: "user", content: prompt };
  if (format === "chat") return JSON.stringify({ messages: [asked, { role: "assistant", content: answer }] });
  return JSON.stringify({ asked, answer, reward: rating?.value, trace, id });
}

/** A line in the form of `lineOf`: of a trajectory, what is not of the format it was recorded in. */
function shown(line: string): string {
  const { messages_and_choices: said, reward, metadata } = JSON.parse(line) as Trajectory;
  if (said === undefined) return line;
  expect(said).toHaveLength(2);
  const { index, message, finish_reason } = said[1] as Trajectory["choice"];
  expect({ index, finish_reason, role: message.role }).toEqual({
    index: 0,
    finish_reason: "stop",
    role: "assistant",
  });
  return JSON.stringify({
    asked: said[0],
    answer: message.content,
    reward,
    trace: metadata.trace_id,
    id: metadata.call_id,
  });
}

interface Trajectory {
  readonly messages_and_choices?: readonly object[];
  readonly choice: {
    readonly index: number;
    readonly finish_reason: string;
    readonly message: { readonly role: string; readonly content: string };
  };
  readonly reward: number;
  readonly metadata: { readonly trace_id: string; readonly call_id: string };
}

function drawQuestion(project: Project): Question {
  const format = oneOf(["chat", "preference", "trajectories"] as const);
  const feedback = format === "chat" && chance(0.5) ? undefined : oneOf(CONDITIONS);
  const only = oneOf([undefined, undefined, "roots", "leaves", "last_of_thread"] as const);
  const traces = [...new Set(project.calls.map(({ trace }) => trace))];
  const $eq = [{ $getField: "op_name" }, { $literal: "answer" }];
  return {
    format,
    ...(feedback && { feedback }),
    ...(only && { only }),
    ...(chance(0.2) && { filter: { trace_ids: traces.filter(() => chance(0.7)) } }),
    ...(chance(0.2) && { query: { $expr: { $eq } } }),
    ...(chance(0.4) && { dedupe: true }),
    ...(chance(0.3) && { seed: below(100), holdout: oneOf([0.2, 0.5]) }),
    ...(format !== "preference" && only !== "last_of_thread" && chance(0.2) && { limit: 1 + below(8) }),
  };
}

describe("an export of a random project", () => {
  it("has each selected call once: as a line, or with a reason", async () => {
    let answered = 0;
    for (let at = 0; at < runs(1, 40); at++) {
      const project = new Project(`acme/random-datasets-${at}`);
      await project.write();
      for (let asked = 0; asked < 20; asked++) answered += await expectExport(project, drawQuestion(project));
    }
    expect(answered).toBeGreaterThan(100);
  });
});

/** Returns the number of lines, which are those of `decide`. */
async function expectExport(project: Project, question: Question): Promise<number> {
  const name = JSON.stringify(question);
  const project_id = project.id;
  const { verdicts, lines } = decide(project, question);
  const [one, again] = await Promise.all(
    [test, other].map((app) => app.post("/dataset/export", { project_id, ...question })),
  );
  expect(again!.text, name).toBe(one!.status === 200 ? one!.text : again!.text);
  expect(one!.status, `${name} ${one!.text}`).toBe(lines.length === 0 ? 422 : 200);
  if (lines.length === 0) return 0;
  expect(one!.text.split("\n").slice(0, -1).map(shown), name).toEqual(lines);
  const export_id = one!.headers["x-sumtree-export-id"];
  const told = (await test.post("/dataset/query", { project_id, export_id, limit: 1000 })).json();
  const found = new Map<string, Verdict>(
    (told.calls as { call_id: string; line: number | null; reason: string }[]).map(
      ({ call_id, line, reason }) => [call_id, line === null ? reason : { line }],
    ),
  );
  expect(Object.fromEntries(found), name).toEqual(Object.fromEntries(verdicts));
  const reasons = [...verdicts.values()].filter((verdict) => typeof verdict === "string");
  const leftOut = Object.fromEntries(
    Map.groupBy(
      reasons.filter((reason) => reason !== "held_out"),
      (reason) => reason,
    )
      .entries()
      .map(([reason, all]) => [reason, all.length]),
  );
  expect(told.exports[0], name).toMatchObject({
    lines: lines.length,
    bytes: Buffer.byteLength(one!.text),
    sha256: createHash("sha256").update(one!.text).digest("hex"),
    counts: {
      selected: verdicts.size,
      exported: verdicts.size - reasons.length,
      held_out: reasons.filter((reason) => reason === "held_out").length,
      left_out: leftOut,
    },
  });
  return lines.length;
}
