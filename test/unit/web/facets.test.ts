import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readQuery } from "../../../web/state/query.ts";
import { printCondition, readSearch } from "../../../web/state/search.ts";
import { conditionOf, facetsWith, isAtMost, rowsOf, type FacetValue } from "../../../web/traces/facets.ts";
import { conditionsOf } from "../../../web/state/select-traces.ts";

const facets = facetsWith(["attributes.version"]);
const facetOf = (key: string) => facets.find((facet) => facet.key === key)!;
const found = (...values: FacetValue["value"][]) =>
  values.map((value) => ({ value, traces: 1, total_cost: 0, partial: false }));
const rows = (key: string, text: string, ...values: FacetValue["value"][]) =>
  rowsOf(facetOf(key), found(...values), readSearch(text).search).map(({ title, chosen, only, without }) => ({
    title,
    chosen,
    only,
    without,
  }));

describe("values of a facet", () => {
  it("lead to only their traces and back, and to those without them and back", () => {
    const text = "root.user:ana model:gpt parcel";
    expect(rows("svc_user_id", text, "ana", "ben")).toEqual([
      { title: "ana", chosen: "only", only: "model:gpt parcel", without: "model:gpt -root.user:ana parcel" },
      {
        title: "ben",
        chosen: undefined,
        only: "model:gpt root.user:ben parcel",
        without: "model:gpt -root.user:ben parcel",
      },
    ]);
    expect(rows("svc_user_id", "-root.user:ana", "ana", "ben")).toEqual([
      { title: "ana", chosen: "without", only: "root.user:ana", without: "" },
      {
        title: "ben",
        chosen: undefined,
        only: "root.user:ben",
        without: "-root.user:ana -root.user:ben",
      },
    ]);
  });

  it("are listed while they are chosen, found or not", () => {
    expect(rows("op_name", "root.op:gone", "there").map(({ title, chosen }) => [title, chosen])).toEqual([
      ["there", undefined],
      ["gone", "only"],
    ]);
  });

  it("of any call cannot be left out, and an absent one cannot be chosen", () => {
    expect(rows("llm", "", "gpt", null)).toEqual([
      { title: "gpt", chosen: undefined, only: "model:gpt", without: undefined },
      { title: "none", chosen: undefined, only: undefined, without: undefined },
    ]);
  });

  it("count at most where one call has to match several conditions", () => {
    const isOf = (key: string, text: string) => isAtMost(facetOf(key), readSearch(text).search);
    expect(["", "model:gpt", "root.user:ana", "trace:t1"].map((text) => isOf("llm", text))).toEqual(
      Array(4).fill(false),
    );
    expect(["parcel", "status:failed"].map((text) => isOf("llm", text))).toEqual([true, true]);
    expect(isOf("status", "parcel")).toBe(false);
  });

  it("are the conditions that the service counts by", () => {
    const asked = (key: string, value: FacetValue["value"]) =>
      conditionsOf(readQuery(printCondition(conditionOf(facetOf(key), value)!), "traces"));
    const root = (field: string, value: string | null) => ({
      query: { $expr: { $eq: [{ $getField: field }, { $literal: value }] } },
    });
    expect(asked("status", "success")).toEqual(root("summary.weave.status", "success"));
    expect(asked("status", "descendant_error")).toEqual(root("summary.weave.status", "descendant_error"));
    expect(asked("op_name", "weave:///a/b/op/c:v1")).toEqual(root("op_name", "weave:///a/b/op/c:v1"));
    expect(asked("svc_user_id", null)).toEqual(root("svc_user_id", null));
    expect(asked("attributes.version", 2)).toEqual(root("attributes.version", "2"));
    expect(asked("failed", "failed")).toEqual(conditionsOf(readQuery("status:failed", "traces")));
  });

  it("come back from the search as they were, whatever they are called", () => {
    const value = fc.string({
      minLength: 1,
      unit: fc.constantFrom(...Array.from("ab \"\\:/<>{}-=\n\t'éñ\u202e.")),
    });
    fc.assert(
      fc.property(fc.constantFrom(...facets.filter(({ by }) => by !== undefined)), value, (facet, text) => {
        const condition = conditionOf(facet, text);
        if (condition === undefined) return;
        if (facet.key === "status" || facet.key === "failed") return;
        expect(readSearch(printCondition(condition))).toEqual({
          search: { words: [], conditions: [condition] },
          faults: [],
        });
      }),
    );
  });
});
