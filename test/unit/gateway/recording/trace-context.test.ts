import { describe, expect, it } from "vitest";
import { readTraceContext } from "../../../../src/gateway/recording/caller.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

describe("readTraceContext", () => {
  it("reads traceparent", () => {
    expect(readTraceContext({ traceparent: `00-${TRACE}-${SPAN}-01` })).toEqual({
      traceId: TRACE,
      parentId: SPAN,
      isNew: false,
    });
  });

  it("prefers our own headers, whose ids can have any form", () => {
    const headers = {
      traceparent: `00-${TRACE}-${SPAN}-01`,
      "x-sumtree-trace-id": "t-1",
      "x-sumtree-parent-id": "p-1",
    };
    expect(readTraceContext(headers)).toEqual({ traceId: "t-1", parentId: "p-1", isNew: false });
    expect(readTraceContext({ "x-sumtree-trace-id": "t-1" })).toEqual({
      traceId: "t-1",
      parentId: null,
      isNew: false,
    });
  });

  it.each([
    {},
    { traceparent: "nonsense" },
    { traceparent: `ff-${TRACE}-${SPAN}-01` },
    { traceparent: `00-${"0".repeat(32)}-${SPAN}-01` },
    { traceparent: `00-${TRACE}-${"0".repeat(16)}-01` },
    { "x-sumtree-trace-id": "no spaces\tplease" },
  ])("starts a new trace for %j", (headers) => {
    const { traceId, parentId, isNew } = readTraceContext(headers);
    expect([traceId, parentId, isNew]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), null, true]);
  });
});
