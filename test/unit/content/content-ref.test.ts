import { describe, expect, it } from "vitest";
import { parseContentRef } from "../../../src/content/content-ref.ts";

describe("parseContentRef", () => {
  it.each([
    ["weave:///acme/my app/object/a:b", { projectId: "acme/my app", objectId: "a", version: "b", path: [] }],
    [
      "weave:///e/p/op/run:v1/attr/x",
      { objectId: "run", version: "v1", path: [{ edge: "attr", name: "x" }] },
    ],
    [
      "weave:///e/p/object/a:b/key/%2F%C3%BC/index/0",
      { path: [{ name: "/ü" }, { edge: "index", name: "0" }] },
    ],
    ["weave:///e/p/object/a:b/key/", { path: [{ edge: "key", name: "" }] }],
    ["weave:///e/p/table/d/id/r", { kind: "table", digest: "d", path: [{ edge: "id", name: "r" }] }],
  ])("%s", (text, expected) => {
    expect(parseContentRef(text)).toMatchObject(expected);
  });

  it.each([
    "",
    "weave:///e/p/call/x",
    "weave:///e/p/object/a",
    "weave:///e/p/object/:b",
    "weave:///e/p/object/a:b/attr",
    "weave:///e/p/object/a:b/other/x",
    "weave:///e/p/object/a:b/key/%",
    "weave:///e/object/a:b",
    "weave-trace-internal:///e/p/object/a:b",
    " weave:///e/p/object/a:b",
  ])("returns undefined for %j", (text) => {
    expect(parseContentRef(text)).toBeUndefined();
  });
});
