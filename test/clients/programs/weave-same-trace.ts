/** An agent with a step that asks the models of COMPLETIONS (`[{ model, usage }]`). Environment as weave-trace. */
import * as weave from "weave";
import { tell } from "./tell.ts";

interface Completion {
  readonly model: string;
  readonly usage: Readonly<Record<string, unknown>>;
}

const client = await weave.init(process.env["PROJECT"]!);
const completions = JSON.parse(process.env["COMPLETIONS"]!) as readonly Completion[];

const ask = weave.op(async (completion: Completion) => completion, {
  name: "ask",
  summarize: ({ model, usage }) => ({ usage: { [model]: usage } }),
});
const step = weave.op(
  async () => {
    for (const completion of completions) await ask(completion);
  },
  { name: "step" },
);
const [, call] = await weave.op(() => step(), { name: "agent" }).invoke();
await client.waitForBatchProcessing();
tell({ id: call.id });
