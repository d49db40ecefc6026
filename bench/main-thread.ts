import type { Page } from "playwright-core";

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  /** In µs of processor time. */
  readonly tdur?: number;
}

const BEGIN = "tasks-begin";
const END = "tasks-end";

/**
 * The tasks of the page's main thread while something happens, each in ms of processor time: scripts, layout, painting and the
 * collection of memory, and nothing of what else the machine does.
 */
export async function tasksDuring(page: Page, work: () => Promise<unknown>): Promise<readonly number[]> {
  const session = await page.context().browser()!.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const complete = new Promise((done) => session.once("Tracing.tracingComplete", done));
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: {
      recordMode: "recordAsMuchAsPossible",
      includedCategories: ["-*", "disabled-by-default-devtools.timeline", "blink.user_timing"],
    },
  });
  await page.evaluate(`performance.mark("${BEGIN}")`);
  await work();
  await page.evaluate(`performance.mark("${END}")`);
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  const mark = (wanted: string): TraceEvent => events.find(({ name }) => name === wanted)!;
  const [begin, end] = [mark(BEGIN), mark(END)];
  return events.flatMap(({ name, ph, pid, tid, ts, tdur = 0 }) =>
    name === "RunTask" &&
    ph === "X" &&
    pid === begin.pid &&
    tid === begin.tid &&
    ts >= begin.ts &&
    ts < end.ts
      ? [tdur / 1000]
      : [],
  );
}
