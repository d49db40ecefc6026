import { assertNever } from "../../src/shared/assert-never.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  exchange,
  startRandomUpstream,
  type Arrival,
  type RandomUpstream,
} from "../models/random-relay/play.ts";
import { planOf, type Plan } from "../models/random-relay/plan.ts";
import { runs } from "../helpers/runs.ts";
import { head } from "../helpers/raw-http.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";
import { startGateway, startSecondApp, type SecondApp, type TestGateway } from "../helpers/start-gateway.ts";

const RUNS = runs(60, 1000);
const AT_ONCE = 6;
/** Nothing of a run takes this long: it hangs. */
const HANGS_AFTER_MS = 20_000;

let test: TestGateway;
let upstream: RandomUpstream;
let app: SecondApp;
beforeAll(async () => {
  test = await startGateway();
  upstream = await startRandomUpstream();
  app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: upstream.url });
});
afterAll(async () => {
  await app.close();
  await upstream.close();
  await test.close();
});

const FRAME =
  /data: \{"error":\{"message":"[^"]*","type":"upstream_error","param":null,"code":"upstream_broken"\}\}\n\n$/;
const CHAT_BODY = '{"model":"m","stream":true,"messages":[]}';

it(`every byte arrives in order, or the transfer is aborted: ${RUNS} random relays`, async () => {
  const random = seededRandom();
  const seeds = Array.from({ length: RUNS }, () => Math.floor(random.next() * 2 ** 31));
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, worker) => {
      for (let run = worker; run < RUNS; run += AT_ONCE) await relay(run, planOf(seededRandom(seeds[run])));
    }),
  );
  await until(() => upstream.open() === 0);
  const unsent = new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)));
  const faults = await Promise.all(cutUploads.map((fault) => Promise.race([fault, unsent])));
  expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
});

/** Their faults. Such an upload need not have gone up at all. */
const cutUploads: Promise<string | undefined>[] = [];

async function relay(run: number, plan: Plan): Promise<void> {
  const id = `run-${run}`;
  const arrivedUp = upstream.expect(id, plan);
  const hangs = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => hangs.reject(new Error(`run ${run} hangs: ${describe(plan)}`)),
    HANGS_AFTER_MS,
  );
  const arrived = await Promise.race([exchange(app.port, headOf(id, plan), plan), hangs.promise]);
  if (plan.kind === "upload" && plan.ending !== "whole") {
    clearTimeout(timer);
    cutUploads.push(arrivedUp.then((came) => uploadFault(plan, came)));
    return;
  }
  const fault =
    plan.kind === "upload"
      ? uploadFault(plan, await Promise.race([arrivedUp, hangs.promise]))
      : faultOf(plan, arrived);
  clearTimeout(timer);
  expect(fault, `run ${run}: ${describe(plan)}`).toBeUndefined();
}

function describe({ kind, recorded, bytes, writes, ending, reader }: Plan): string {
  return `${kind}${recorded ? " recorded" : ""}, ${bytes.length} bytes in ${writes.length} writes, ${ending}, ${reader} reader`;
}

function headOf(id: string, { kind, recorded, bytes, ending }: Plan): string {
  const lines = ["host: g", `authorization: Bearer ${ROOT_KEY}`, `x-client-request-id: ${id}`];
  if (recorded && kind === "chat") lines.push("openai-project: acme/random");
  switch (kind) {
    case "chat":
      return (
        head("POST /v1/chat/completions HTTP/1.1", ...lines, `content-length: ${CHAT_BODY.length}`) +
        CHAT_BODY
      );
    case "upload": {
      const length = bytes.length + (ending === "whole" ? 0 : 1);
      return head("POST /v1/preview/training-jobs HTTP/1.1", ...lines, `content-length: ${length}`);
    }
    case "events":
    case "plain":
      return head("GET /v1/objects/x HTTP/1.1", ...lines);
    default:
      return assertNever(kind);
  }
}

/** A stream that lacks nothing but the blank line behind its last event has lost nothing. */
const DONE_IS_THERE = /\n\r?\ndata: \[DONE\]\n?$/;

/** Compares a received response with the plan; `undefined` if it is correct. */
function faultOf(plan: Plan, { status, bytes, whole }: Arrival): string | undefined {
  if (status !== 200) return `status ${status}`;
  if (plan.ending === "left")
    return isPrefix(bytes, plan.bytes) || FRAME.test(tailOf(bytes)) ? undefined : "bytes out of order";
  // "short" is an end in good order: for all but a chat there is nothing amiss
  const isWhole = plan.ending === "whole" || (plan.ending === "short" && plan.kind !== "chat");
  if (isWhole)
    return whole && bytes.equals(plan.bytes) ? undefined : `${bytes.length} bytes, whole: ${whole}`;
  if (plan.ending === "short" && DONE_IS_THERE.test(tailOf(plan.bytes)))
    return isPrefix(plan.bytes, bytes) ? undefined : "bytes out of order";
  if (whole) return "a cut answer that looks whole";
  const frame = FRAME.exec(tailOf(bytes))?.[0];
  if (plan.kind !== "plain" && frame === undefined) return `no error frame: ${tailOf(bytes)}`;
  const passed = bytes.subarray(0, bytes.length - Buffer.byteLength(frame ?? ""));
  // an event that was too large to hold back has been ended before the frame
  const isInOrder = isPrefix(passed, plan.bytes) || isPrefix(passed.subarray(0, -2), plan.bytes);
  return isInOrder ? undefined : "bytes out of order";
}

function uploadFault(plan: Plan, { bytes, whole }: Arrival): string | undefined {
  if (plan.ending === "whole")
    return whole && bytes.equals(plan.bytes) ? undefined : `${bytes.length} bytes, whole: ${whole}`;
  return !whole && isPrefix(bytes, plan.bytes)
    ? undefined
    : "a cut upload that looks whole, or is out of order";
}

function isPrefix(bytes: Buffer, of: Buffer): boolean {
  return bytes.equals(of.subarray(0, bytes.length));
}

function tailOf(bytes: Buffer): string {
  return bytes.subarray(-300).toString();
}
