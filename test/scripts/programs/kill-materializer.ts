/** Loaded into a service before it starts: its minutes are short, and it kills itself when it writes into the usage rollup. */
import { setTimeout as delay } from "node:timers/promises";
import { Session } from "chdb";

const MINUTE_MS = 60_000;
const [moment, write] = process.env["KILL_MATERIALIZER"]!.split(" ");

const { setInterval } = globalThis;
globalThis.setInterval = ((work: () => void, ms: number) =>
  setInterval(work, ms === MINUTE_MS ? 100 : ms)) as typeof globalThis.setInterval;

type Insert = (this: Session, params: { readonly table: string }) => Promise<unknown>;
const prototype = Session.prototype as unknown as { insert: Insert };
const { insert } = prototype;
let writes = 0;
prototype.insert = async function (params) {
  if (params.table !== "usage_rollup" || ++writes !== Number(write)) return insert.call(this, params);
  if (moment === "before") process.kill(process.pid, "SIGKILL");
  const done = insert.call(this, params);
  if (moment === "after") await done;
  else await delay(Number(moment));
  process.kill(process.pid, "SIGKILL");
  return done;
};
