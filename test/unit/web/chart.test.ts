import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  bucketAt,
  bucketsOf,
  nameOf,
  noteOf,
  timeTicks,
  windowOf,
} from "../../../web/components/chart-buckets.ts";
import { geometryOf } from "../../../web/components/chart-geometry.ts";
import { csvNameOf } from "../../../web/format/csv.ts";
import { formatCount } from "../../../web/format/figure.ts";
import { colorsOf } from "../../../web/usage/colors.ts";
import type { UsageStats } from "../../../web/api/routes.ts";
import { searchOfGroup } from "../../../web/state/drill.ts";
import { subjectOf } from "../../../web/state/groups.ts";
import { mergeErrors } from "../../../web/state/merge-errors.ts";
import { csvOfUsage } from "../../../web/usage/csv-of-usage.ts";

const ZONE = "Europe/Berlin";
const format = formatCount;

/** Days of Berlin from a date on, as the service answers them. */
function daysOf(timestamps: readonly string[], end: string) {
  const buckets = timestamps.map((timestamp) => ({ timestamp }));
  return bucketsOf({ start: timestamps[0]!, end, granularity: 86_400, buckets }, ZONE);
}
const spring = daysOf(
  ["2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
  "2026-03-30T22:00:00Z",
);
const autumn = daysOf(
  ["2026-10-23T22:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
  "2026-10-26T23:00:00Z",
);
const bars = [{ label: "a", color: "", kind: "bars" as const, values: [1, 2, 3] }];

describe("buckets of a chart", () => {
  it.each([
    ["spring", spring],
    ["autumn", autumn],
  ])("in %s, each bar is over its own bucket, also its right half", (_, buckets) => {
    const { segments, msAt, middleOf } = geometryOf({ buckets, series: bars, heightPx: 260, format }, 900);
    for (const [at, [bar]] of segments.entries()) {
      const { x, width } = bar!;
      for (const part of [0.01, 0.25, 0.5, 0.75, 0.99])
        expect(bucketAt(buckets, msAt(x + part * width))).toBe(at);
      expect(x + width / 2).toBeCloseTo(middleOf(at), 6);
    }
  });

  it("are as wide as their days, of which one has 23 and one 25 hours", () => {
    const widths = [spring, autumn].map((buckets) => {
      const [first, second] = geometryOf({ buckets, series: bars, heightPx: 260, format }, 900).segments;
      return (second![0]!.width + 2) / (first![0]!.width + 2);
    });
    expect(widths[0]).toBeCloseTo(23 / 24, 6);
    expect(widths[1]).toBeCloseTo(25 / 24, 6);
    expect(noteOf(spring, 1, ZONE)).toBe("23 h long instead of 24 h");
    expect(nameOf(autumn, 1, ZONE)).toContain("(25 h)");
    expect(noteOf(autumn, 0, ZONE)).toBeUndefined();
  });

  it("end with the day of the clock, if it is the last one too", () => {
    const last = daysOf(["2026-03-28T23:00:00Z"], "2026-03-29T08:00:00Z");
    expect(new Date(last.endMs).toISOString()).toBe("2026-03-29T22:00:00.000Z");
    expect(noteOf(last, 0, ZONE, Date.parse("2026-03-29T08:00:01Z"))).toBe("not over yet");
    expect(noteOf(last, 0, ZONE, Date.parse("2026-04-01T00:00:00Z"))).toBe("only until 10:00");
    expect(windowOf(last, 0).toMs).toBe(last.toMs);
  });

  it("have texts at the starts of hours, days or months of the zone, which do not overlap", () => {
    const hours = (count: number, size = 1) =>
      Array.from({ length: count }, (_, at) => Date.parse("2026-10-23T22:00:00Z") + at * size * 3_600_000);
    for (const [times, widthPx] of [
      [hours(24), 300],
      [hours(2160), 300],
      [hours(90, 24), 900],
      [hours(1), 300],
      [[...spring.times], 300],
    ] as const) {
      const endMs = times.at(-1)! + 3_600_000;
      const pxOf = (ms: number) => ((ms - times[0]!) / (endMs - times[0]!)) * widthPx;
      const ticks = timeTicks({ times }, ZONE, (from, to) => pxOf(to) - pxOf(from) >= 58);
      expect(ticks.length).toBeGreaterThan(0);
      for (const [at, { ms }] of ticks.entries()) {
        expect(times).toContain(ms);
        if (at > 0) expect(pxOf(ms) - pxOf(ticks[at - 1]!.ms)).toBeGreaterThanOrEqual(58);
      }
    }
    const long = timeTicks({ times: hours(2160) }, "UTC", (from, to) => to - from > 20 * 86_400_000);
    expect(long.map(({ text }) => text)).toEqual(["Nov", "Dec", "Jan 2027"]);
  });

  it("have whole ticks of counts, and a margin as wide as the texts", () => {
    const counts = [{ ...bars[0]!, values: [1, 0, 2] }];
    const { ticks, left } = geometryOf(
      {
        buckets: spring,
        series: counts,
        heightPx: 260,
        isCount: true,
        format,
        axis: (value) => `${value} calls`,
      },
      390,
    );
    expect(ticks.map(({ text }) => text)).toEqual(["0 calls", "1 calls", "2 calls"]);
    expect(left).toBeGreaterThan(7 * 6);
    expect(geometryOf({ buckets: spring, series: [], heightPx: 260, format }, 390).ticks).not.toEqual([]);
  });
});

describe("colours of groups", () => {
  const names = ["gpt-4o", "gemini", "claude", "mistral", "llama", "qwen", "none", "deepseek", "ninth"];

  it("belong to names, the accent to the largest: another order, fewer names and new ones change none", () => {
    const known = new Map<string, number>();
    const first = colorsOf(names, known);
    expect(new Set(first.values()).size).toBe(8);
    expect(colorsOf(names.slice(0, 8).toReversed(), known)).toEqual(first);
    const later = colorsOf(["ninth", "claude", "qwen"], known);
    for (const name of ["claude", "qwen"]) expect(later.get(name)).toBe(first.get(name));
    expect(first.get("gpt-4o")).toBe("--series-0");
  });

  it.each([
    ["light", 0, "#fcfcfa"],
    ["dark", 1, "#131618"],
  ] as const)("have a contrast of 3 : 1 and differ in lightness in the %s theme", (_, theme, paper) => {
    const css = readFileSync(new URL("../../../web/style/charts.css", import.meta.url), "utf8");
    const colors = [...css.matchAll(/--series-\w+: light-dark\((#\w+), (#\w+)\)/g)].map(
      (found) => found[theme + 1]!,
    );
    const lightness = colors
      .map((color) => 116 * Math.cbrt(luminanceOf(color)) - 16)
      .toSorted((a, b) => a - b);
    expect(colors).toHaveLength(9);
    for (const color of colors) {
      const [low, high] = [luminanceOf(color), luminanceOf(paper)].toSorted((a, b) => a - b);
      expect((high! + 0.05) / (low! + 0.05)).toBeGreaterThanOrEqual(3);
    }
    for (const [at, one] of lightness.entries())
      if (at > 0) expect(one - lightness[at - 1]!).toBeGreaterThan(2.5);
  });
});

function luminanceOf(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

describe("the search of a group", () => {
  const calls = (text: string) => ({ text, of: "calls" as const });
  const traces = (text: string) => ({ text, of: "traces" as const });

  it("narrows text, or JSON as it was written", () => {
    expect(searchOfGroup({ llm: "gpt-4o" }, calls("parcel"))).toBe("model:gpt-4o parcel");
    expect(searchOfGroup({ provider: "openai" }, calls(""))).toBeUndefined();
    const query = { $eq: [{ $getField: "id" }, { $literal: "a" }] };
    const text = JSON.stringify({ $expr: query });
    const { $expr } = JSON.parse(searchOfGroup({ svc_user_id: "ana" }, calls(text))!);
    expect($expr.$and).toEqual([query, { $eq: [{ $getField: "svc_user_id" }, { $literal: "ana" }] }]);
    // JSON is of any call, and cannot say what is true of the root
    expect(searchOfGroup({ svc_user_id: "ana" }, traces(text))).toBeUndefined();
  });

  it("is of the root where traces are counted", () => {
    const key = {
      svc_user_id: "ana",
      "attributes.version": null,
      trace_id: "t1",
      status: "descendant_error",
    };
    expect(searchOfGroup(key, traces("parcel"))).toBe(
      "root.user:ana root.attributes.version:none trace:t1 root.status:descendant_error parcel",
    );
  });

  it("leaves out errors of wider patterns", () => {
    const patterns = ["timeout", "Connection TIMEOUT after … s", "other"];
    expect(searchOfGroup({ exception: "timeout" }, { ...traces(""), patterns })).toBe(
      'root.error:timeout -root.error:"Connection TIMEOUT after … s"',
    );
  });
});

it.each([
  ["", ["svc_user_id"], "traces"],
  ["", ["attributes.tenant", "op_name"], "traces"],
  ["calls", ["svc_user_id"], "calls"],
  ["", ["llm"], "calls"],
  ["traces", ["svc_user_id", "provider"], "calls"],
])("of=%s of groups %j counts %s", (of, groups, subject) => {
  expect(subjectOf(groups, of)).toBe(subject);
});

it("merges errors of one pattern, without a percentile that it cannot know", () => {
  const total = (traces: number, usd: number | null, more: object = {}) => ({
    traces,
    total_cost: usd,
    cost_per_trace: usd === null ? null : usd / traces,
    partial: usd === null,
    latency_ms: { p95: 5 },
    ...more,
  });
  const groups = ["no user 17", "bad", "no user 3", "no user 4"].map((exception, at) => ({
    key: { exception },
    total: total(at + 1, [0.1, 9, 0.2, null][at]!),
  }));
  const bucket = { timestamp: "", groups: [groups[0]!.total, null, groups[2]!.total, null] };
  const merged = mergeErrors(
    { groups, buckets: [bucket] } as unknown as UsageStats,
    ({ total_cost: usd }) => usd ?? null,
  );
  expect(merged.groups).toEqual([
    { key: { exception: "bad" }, total: total(2, 9) },
    {
      key: { exception: "no user …" },
      total: total(8, 0.3, { partial: true, latency_ms: {}, cost_per_trace: 0.0375 }),
    },
  ]);
  expect(merged.buckets[0]!.groups).toEqual([
    null,
    total(4, 0.3, { partial: false, latency_ms: {}, cost_per_trace: 0.075 }),
  ]);
});

it("a CSV of usage has local starts, and its project and range in its name", () => {
  const total = { calls: 1, errors: 0, total_cost: 0.5, partial: false };
  const text = csvOfUsage({
    groups: [{ key: { llm: "a" }, total }],
    buckets: [{ timestamp: "2026-10-25T01:00:00Z", groups: [total], other: null, total }],
    total,
    timezone: ZONE,
  } as unknown as UsageStats);
  expect(text.split("\r\n")).toEqual([
    "from (Europe/Berlin),llm,calls,errors,total_cost,partial",
    "2026-10-25T02:00+01:00,a,1,0,0.5,false",
    "",
  ]);
  const window = { fromMs: Date.parse("2026-09-30T22:00Z"), toMs: Date.parse("2026-10-28T23:00Z") };
  expect(csvNameOf("usage", { project: "acme/app", window }, ZONE)).toBe(
    "usage acme-app 2026-10-01–2026-10-28.csv",
  );
});
