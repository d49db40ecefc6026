import * as fc from "fast-check";
import type { StoredCall } from "../helpers/stored-calls.ts";

interface Place {
  readonly field: { readonly $getField: string };
  readonly value: unknown;
}

/** Every place in the payloads of a call, containers included. */
function placesOf(call: StoredCall): Place[] {
  const walk = (name: string, value: unknown): Place[] => {
    const here = { field: { $getField: name }, value };
    if (typeof value !== "object" || value === null) return [here];
    const below = Object.entries(value).flatMap(([key, inner]) =>
      walk(`${name}.${key.replaceAll(".", String.raw`\.`)}`, inner),
    );
    return [here, ...below];
  };
  const places = (["inputs", "output", "attributes", "summary"] as const).flatMap((head) =>
    walk(head, call[head]),
  );
  return places.filter(
    ({ field }) => field.$getField.split(".").filter((step) => /^\d+$/.test(step)).length <= 6,
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function latencyOf({ started_at, ended_at }: StoredCall): number[] {
  if (ended_at === null) return [];
  const [began, ended] = [started_at, ended_at].map(
    (text) => Number(text.slice(17, -1)) + 60 * Number(text.slice(14, 16)),
  );
  return [Math.trunc(Math.round((ended! - began!) * 1e6) / 1000)];
}

const STATUSES = ["error", "descendant_error", "running", "success"];
/** Letters whose case is not a matter of one character for one. */
const FOLDED = [
  "STRASSE",
  "straße",
  "ΣΊΣΥΦΟΣ",
  "σίσυφοσ",
  "kelvin",
  "\u212AELVIN",
  "FINAL",
  "ﬁnaL",
  "CAFÉ",
  "cafÉ",
];
/** Between and beside the numbers that booleans might be taken for. */
const THRESHOLDS = [-1, 0, 0.5, 1, 2, 1.5e308, 9007199254740992];
const NAMES = ["predict", "Score", "abc", "5"];

/**
 * Operations that are true of some of the calls: about a place that one of them has, and what stands there. Random
 * literals hardly ever meet what is stored; these always do.
 */
export function aimedOperation(calls: readonly StoredCall[]): fc.Arbitrary<object> {
  const place = fc.constantFrom(...calls.flatMap(placesOf));
  const pair = fc.constantFrom(...calls).chain((call) => {
    const one = fc.constantFrom(...placesOf(call));
    return fc.tuple(one, one);
  });
  const scalar = (value: unknown): unknown =>
    typeof value === "object" && value !== null ? textOf(value) : value;
  const part = fc
    .tuple(place, fc.nat(40), fc.integer({ min: 1, max: 8 }))
    .map(([{ field, value }, from, length]) => {
      const characters = Array.from(textOf(value));
      const start = Math.min(from, characters.length);
      return { field, text: characters.slice(start, start + length).join("") };
    });
  const recased = fc.constantFrom(
    (text: string) => text.toUpperCase(),
    (text: string) => text.toLowerCase(),
  );
  const comparison = fc.constantFrom("$eq", "$gt", "$lt", "$gte", "$lte");
  return fc.oneof(
    fc.tuple(comparison, place, fc.boolean()).map(([name, { field, value }, asText]) => {
      const literal = { $literal: asText ? textOf(value) : scalar(value) };
      return { [name]: [field, literal] };
    }),
    fc
      .tuple(comparison, place, fc.constantFrom(...THRESHOLDS), fc.boolean())
      .map(([name, { field }, threshold, isFirst]) => {
        const literal = { $literal: threshold };
        return { [name]: isFirst ? [literal, field] : [field, literal] };
      }),
    fc.tuple(comparison, pair).map(([name, [a, b]]) => ({ [name]: [a.field, b.field] })),
    fc.tuple(place, fc.array(place, { maxLength: 3 })).map(([one, others]) => ({
      $in: [one.field, [one, ...others].map(({ value }) => ({ $literal: scalar(value) }))],
    })),
    part.map(({ field, text }) => ({ $contains: { input: field, substr: { $literal: text } } })),
    fc.tuple(part, recased).map(([{ field, text }, recase]) => ({
      $contains: { input: field, substr: { $literal: recase(text) }, case_insensitive: true },
    })),
    fc.tuple(fc.constantFrom("inputs", "output"), fc.constantFrom(...FOLDED)).map(([name, text]) => ({
      $contains: { input: { $getField: name }, substr: { $literal: text }, case_insensitive: true },
    })),
    fc.tuple(comparison, fc.constantFrom(...calls.flatMap(latencyOf))).map(([name, latency]) => ({
      [name]: [{ $getField: "summary.weave.latency_ms" }, { $literal: latency }],
    })),
    fc
      .constantFrom(...STATUSES)
      .map((status) => ({ $eq: [{ $getField: "summary.weave.status" }, { $literal: status }] })),
    fc
      .constantFrom(...NAMES)
      .map((name) => ({ $eq: [{ $getField: "summary.weave.trace_name" }, { $literal: name }] })),
  );
}
