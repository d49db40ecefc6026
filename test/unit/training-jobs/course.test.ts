import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Project } from "../../../src/shared/project.ts";
import { advance, newCourse, pathOf, type Answer } from "../../../src/training-jobs/course.ts";
import { versions, type Job } from "../../../src/training-jobs/job.ts";

const job: Job = {
  project_id: "acme/one" as Project,
  id: "j",
  kind: "rl",
  status: "pending",
  error: null,
  forgotten: 0,
  model_id: "m",
  base_model: "b",
  output_model: "acme/one/agent",
  api_key: "k",
  svc_user_id: null,
  request: "{}",
  sha256: "",
  bytes: 0,
  lines: 0,
  export_id: null,
  is_sent: 1,
  metrics: "{}",
  checkpoints: "[]",
  stated_cost: null,
  course: newCourse(0),
  created_at_us: 0,
  ended_at_us: null,
  checked_at_ms: 0,
  checked_by: "s",
  removed: 0,
  version: versions.created(0),
};
const page = (...data: readonly unknown[]): Answer => ({ status: 200, body: { data, has_more: false } });
const fold = (...answers: readonly Answer[]): Job =>
  answers.reduce<Job>((at, answer) => advance(at, answer, 1000).job, job);
const ended = page({ id: "e", type: "training_ended", data: { cost: 1.5 } });

describe("the course of a job", () => {
  it("keeps the last number of each metric, and ignores what is odd", () => {
    const step = (id: number, data: unknown) => ({ id: String(id), type: "gradient_step", data });
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`m${at}`, at]));
    const odd = [null, "x", {}, { id: 1, type: "other" }, { type: "gradient_step" }, step(1, [1])];
    const steps = [step(2, { loss: 2, nan: null, text: "1" }), step(3, { loss: null, ["x".repeat(201)]: 1 })];
    const folded = fold(page(...odd, ...steps, step(4, { loss: 1 }), step(5, many)));
    const metrics = JSON.parse(folded.metrics) as Record<string, number>;
    expect([folded.status, metrics["loss"], Object.keys(metrics).length]).toEqual(["running", 1, 200]);
    expect(pathOf(folded)).toBe("/preview/training-jobs/j/events?limit=100&after=5");
  });

  it("ends with the checkpoints above the first step, its own end and its stated cost", () => {
    const detail: Answer = { status: 200, body: { training_end: "2026-11-30T00:00:00Z" } };
    const listed = page(
      { id: "c2", step: 2 },
      { id: "c1", step: 1 },
      { id: "c0", step: 0 },
      { id: "x", step: "3" },
    );
    const over = fold(ended, detail, listed);
    expect(over).toMatchObject({ status: "completed", stated_cost: 1.5, error: null });
    expect(over.ended_at_us).toBe(Date.UTC(2026, 10, 30) * 1000);
    expect(JSON.parse(over.checkpoints)).toEqual(
      [1, 2].map((step) => ({ id: `c${step}`, step, llm: `wandb-artifact:///acme/one/agent:step${step}` })),
    );
  });

  it("reads less at once of what is too long, and again from the start if the cursor is lost", () => {
    expect(pathOf(fold("too_long"))).toContain("limit=10");
    const lost = fold(page({ id: "e1", type: "gradient_step" }), { status: 422, body: {} });
    expect(pathOf(lost)).not.toContain("after");
    expect(fold({ status: 404, body: {} }, { status: 404, body: {} })).toMatchObject({
      status: "unknown",
      forgotten: 1,
    });
  });

  it("never fails, whatever comes", () => {
    const answers = fc.array(
      fc.option(
        fc.record({
          status: fc.constantFrom(200, 404, 422, 500),
          body: fc.oneof(
            fc.jsonValue(),
            fc.record({ data: fc.array(fc.jsonValue()), has_more: fc.jsonValue() }),
          ),
        }),
        { nil: undefined },
      ),
    );
    fc.assert(
      fc.property(answers, (all) => {
        let at: Job = job;
        for (const answer of [...all, ended])
          if (["pending", "running"].includes(at.status)) at = advance(at, answer, 1).job;
        expect(JSON.parse(at.metrics)).toBeTypeOf("object");
      }),
    );
  });
});

it("versions put ends above courses above creations, the first of each first", () => {
  const at = 1_800_000_000_000;
  const ordered = [
    versions.created(at + 1),
    versions.created(at),
    versions.changed(at),
    versions.changed(at + 1),
    versions.ended(at + 1),
    versions.ended(at),
    versions.removed,
  ];
  expect(ordered).toEqual(ordered.toSorted((a, b) => a - b));
  expect(ordered.every(Number.isSafeInteger)).toBe(true);
});
