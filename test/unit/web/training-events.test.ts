import { describe, expect, it } from "vitest";
import {
  appendEvents,
  drawnOf,
  isOver,
  linesOf,
  otherMetrics,
  readEventPage,
  wordsOf,
  type JobEvent,
} from "../../../web/training/events.ts";

const started = { id: "e0", type: "training_started", data: { num_sequences: 3 } };
const step = (at: number, data: object) => ({ id: `e${at}`, type: "gradient_step", data });
const eventsOf = (...data: readonly unknown[]): readonly JobEvent[] =>
  appendEvents([], readEventPage({ data, has_more: false }));

describe("events of a training job", () => {
  it("make a line of each metric, with gaps where it was not reported", () => {
    const lines = linesOf(
      eventsOf(
        started,
        step(1, { gradient_step: 1, loss: 1, "group_metric/x": 0 }),
        { id: "other", type: "checkpoint_saved", data: null },
        step(2, { gradient_step: 2, loss: 0.5 }),
        step(3, { gradient_step: 3, "group_metric/x": 2, late: -1 }),
      ),
    );
    expect(lines).toEqual([
      { name: "loss", values: [1, 0.5, null], first: 1, last: 0.5 },
      { name: "group_metric/x", values: [0, null, 2], first: 0, last: 2 },
      { name: "late", values: [null, null, -1], first: -1, last: -1 },
    ]);
  });

  it("are drawn where they change, eight at most; the rest have their last values", () => {
    const names = Array.from({ length: 10 }, (_, at) => `m${at}`);
    const metricsOf = (at: number) => Object.fromEntries(names.map((name, n) => [name, n * at]));
    const lines = linesOf(
      eventsOf(step(1, { ...metricsOf(1), rate: 5 }), step(2, { ...metricsOf(2), rate: 5 })),
    );
    const drawn = drawnOf(lines);
    expect(drawn.map(({ name }) => name)).toEqual(names.slice(1, 9));
    const job = { metrics: { gradient_step: 2, m1: 1, m9: 9, only_in_ledger: 7 } };
    expect(otherMetrics(job, { lines, drawn })).toEqual([
      ["m9", 18],
      ["only_in_ledger", 7],
      ["m0", 0],
      ["rate", 5],
    ]);
    expect(otherMetrics(job, { lines: [], drawn: [] })).toEqual(Object.entries(job.metrics));
  });

  it.each([
    null,
    [],
    "down",
    { data: "none" },
    { data: [null, 3, { id: 4, type: "gradient_step" }, { id: "e1" }], has_more: true },
  ])("of an answer without any, such as %j, are none, and no more are asked for", (body) => {
    expect(readEventPage(body)).toEqual({ events: [], isMore: false });
  });

  it("may have members of any name and type", () => {
    const odd = JSON.parse(
      '{"__proto__": 1, "constructor": 2, "text": "3", "none": null, "list": [4]}',
    ) as object;
    const lines = linesOf(eventsOf(step(1, odd), step(2, []), { ...step(3, {}), data: "x" }));
    expect(lines.map(({ name, last }) => [name, last])).toEqual([
      ["__proto__", 1],
      ["constructor", 2],
    ]);
    expect(lines[0]!.values).toEqual([1, null, null]);
  });

  it("keep at most 200 metrics", () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`m${at}`, at]));
    expect(linesOf(eventsOf(step(1, many)))).toHaveLength(200);
  });

  it("count once, and go on from page to page", () => {
    const first = readEventPage({ data: [started, step(1, { loss: 1 })] });
    expect(first.isMore).toBe(true);
    const next = readEventPage({ data: [step(1, { loss: 1 }), step(2, { loss: 2 })], has_more: false });
    expect(next.isMore).toBe(false);
    const events = appendEvents(appendEvents([], first), next);
    expect(events.map(({ id, step: at }) => [id, at])).toEqual([
      ["e0", 0],
      ["e1", 1],
      ["e2", 2],
    ]);
    expect(isOver(events)).toBe(false);
  });

  it.each([
    ["started, 3 sequences", started],
    ["started", { ...started, data: {} }],
    ["step 1", step(1, {})],
    ["ended", { id: "e", type: "training_ended", data: {} }],
    [
      "failed: CUDA out of memory",
      { id: "e", type: "training_failed", data: { error_message: "CUDA out\nof memory" } },
    ],
    ["failed", { id: "e", type: "training_failed", data: { error_message: null } }],
    ["checkpoint saved", { id: "e", type: "checkpoint_saved" }],
  ])("say %j", (words, event) => {
    const [one] = eventsOf(event);
    expect(wordsOf(one!)).toBe(words);
    expect(isOver([one!])).toBe(/^(?:ended|failed)/.test(words));
  });
});
