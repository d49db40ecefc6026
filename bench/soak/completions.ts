import { responseModel, usageOf, type ChatBody } from "../../test/helpers/reference-upstream/chat.ts";
import type { Reply } from "./client.ts";
import type { Soak } from "./soak.ts";

const PATH = "/v1/chat/completions";

export async function complete(soak: Soak, n: number): Promise<void> {
  const asked = question(n);
  await ask(soak, { operation: "completion", project: projectOf(n), asked });
}

export async function stream(soak: Soak, n: number): Promise<void> {
  const asked = { ...question(n), stream: true };
  const { body } = await ask(soak, { operation: "streamed completion", project: projectOf(n), asked });
  if (!body.toString("utf8").endsWith("data: [DONE]\n\n")) throw new Error("a stream did not end");
}

async function ask(
  { client, expected }: Soak,
  { operation, project, asked }: { operation: string; project: string; asked: ChatBody },
): Promise<Reply> {
  const headers = { ...client.tokenHeaders, "openai-project": project };
  const reply = await client.send(operation, PATH, asked, headers);
  if (reply.status !== 200) throw new Error(`a completion was answered ${reply.status}`);
  const { prompt_tokens, completion_tokens } = usageOf(asked);
  const used = { llm: responseModel(asked), requests: 1, prompt_tokens, completion_tokens };
  expected.acknowledge(project, new Map([[String(reply.headers["x-sumtree-call-id"]), used]]));
  return reply;
}

export function question(n: number): ChatBody {
  return {
    model: `forest-${n % 7}`,
    messages: [{ role: "user", content: "word ".repeat(n % 400) }],
    max_tokens: 1 + (n % 50),
  };
}

function projectOf(n: number): string {
  return `soak/completions-${n % 3}`;
}
