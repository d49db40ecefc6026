import { describe, expect, it } from "vitest";
import { createSingleFlight } from "../../../../../src/store/cluster/replicas/single-flight.ts";

/** Runs that the test completes. */
function manualRuns() {
  const open: { key: string; end: (error?: Error) => void }[] = [];
  const runs = createSingleFlight(
    (key) =>
      new Promise<void>((resolve, reject) => {
        open.push({ key, end: (error) => (error === undefined ? resolve() : reject(error)) });
      }),
  );
  return { runs, open };
}

describe("createSingleFlight", () => {
  it("resolves with a run that began after the call; at most one runs and one waits", async () => {
    const { runs, open } = manualRuns();
    const over: string[] = [];
    const first = runs.after("a").then(() => over.push("first"));
    const second = runs.after("a").then(() => over.push("second"));
    const third = runs.after("a").then(() => over.push("third"));
    expect(open).toHaveLength(1);
    open[0]!.end();
    await first;
    expect(over).toEqual(["first"]);
    await Promise.resolve();
    expect(open).toHaveLength(2);
    open[1]!.end();
    await Promise.all([second, third]);
    expect(open).toHaveLength(2);
  });

  it("isolates keys, and failures from the next run", async () => {
    const { runs, open } = manualRuns();
    const failed = runs.after("a");
    const next = runs.after("a");
    const other = runs.after("b");
    expect(open.map((one) => one.key)).toEqual(["a", "b"]);
    open[0]!.end(new Error("broken"));
    await expect(failed).rejects.toThrow("broken");
    open[1]!.end();
    await other;
    await Promise.resolve();
    open[2]!.end();
    await next;
    expect(open).toHaveLength(3);
  });
});
