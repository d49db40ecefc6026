/** A Weave op that asks the gateway through a wrapped OpenAI client: the gateway's call stands beside the client's. Environment as `instrumented`. */
import { OpenAI } from "openai4";
import * as weave from "weave";
import { tell } from "./tell.ts";

const { BASE_URL, API_KEY, PROJECT } = process.env as Record<string, string>;
const client = await weave.init(PROJECT!);
const connection = { baseURL: BASE_URL!, apiKey: API_KEY!, project: PROJECT! };

const ask = weave.op(
  async () => {
    const { callId, traceId } = weave.requireCurrentCallStackEntry();
    const defaultHeaders = { "x-sumtree-trace-id": traceId, "x-sumtree-parent-id": callId };
    const openai = weave.wrapOpenAI(new OpenAI({ ...connection, defaultHeaders }));
    const messages = [{ role: "user" as const, content: "How many tokens did this use?" }];
    return openai.chat.completions.create({ model: "forest-1", messages });
  },
  { name: "ask" },
);
const { model, usage } = await weave.op(() => ask(), { name: "agent" })();
await client.waitForBatchProcessing();
tell({ served: [{ [model]: usage }] });
