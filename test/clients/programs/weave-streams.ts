/** Weave's wrapped OpenAI client, which asks a provider for streams of each API. Environment: BASE_URL, PROJECT. */
import { OpenAI } from "openai4";
import * as weave from "weave";
import { tell } from "./tell.ts";

const { BASE_URL, PROJECT } = process.env as Record<string, string>;
const client = await weave.init(PROJECT!);
const openai = weave.wrapOpenAI(new OpenAI({ baseURL: BASE_URL!, apiKey: "sk" }));

const question = [{ role: "user" as const, content: "Where is it?" }];
const tool = { name: "find", parameters: { type: "object", properties: {} } };
const tools = [{ type: "function" as const, function: tool }];
const offered = [{ type: "function" as const, ...tool, strict: false }];
const stream = true;

async function readAll(events: PromiseLike<AsyncIterable<unknown>>): Promise<void> {
  for await (const _ of await events);
}
const ask = { model: "chat", messages: question };
await openai.chat.completions.create({ ...ask, tools });
await readAll(openai.chat.completions.create({ ...ask, stream }));
await readAll(openai.chat.completions.create({ ...ask, stream, tools }));
await readAll(openai.responses.create({ model: "m", input: question, tools: offered, stream }));
const result = { type: "function_call_output" as const, call_id: "call_9", output: "Here." };
await readAll(openai.responses.create({ model: "m", input: [...question, result], stream }));
await client.waitForBatchProcessing();
tell({});
