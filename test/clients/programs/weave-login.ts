/** Logs in to a host behind TLS and names a project without its entity. Environment: KEY, WANDB_BASE_URL (https). */
import * as weave from "weave";
import { tell } from "./tell.ts";

await weave.login(process.env["KEY"]!, new URL(process.env["WANDB_BASE_URL"]!).host);
const client = await weave.init("by-name");
const hello = weave.op(async function hello() {
  return "hello";
});
await hello();
await client.waitForBatchProcessing();
tell({ project: client.projectId, calls: (await client.getCalls()).length });
