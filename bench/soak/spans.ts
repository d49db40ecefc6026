import { encodeRequest, intAttribute, textAttribute } from "../../test/helpers/otlp-request.ts";
import type { Used } from "./expected.ts";
import type { Soak } from "./soak.ts";

const SPANS = 10;
const LLM = "gpt-4o-2024-08-06";

/** A span that calls no model, and below it nine that do; as OpenTelemetry exporters send them. */
export async function sendSpans({ client, expected, random }: Soak, n: number): Promise<void> {
  const project = `soak/spans-${n % 5}`;
  const traceId = (n + 1).toString(16).padStart(32, "0");
  const ids = Array.from({ length: SPANS }, (_, at) => (n * SPANS + at + 1).toString(16).padStart(16, "0"));
  const own = ids.map((_, at) => ({
    llm: LLM,
    requests: at === 0 ? 0 : 1,
    prompt_tokens: at === 0 ? 0 : 1 + Math.floor(random.next() * 2000),
    completion_tokens: at === 0 ? 0 : 1 + Math.floor(random.next() * 200),
  }));
  const began = BigInt(Date.now()) * 1_000_000n;
  const spans = ids.map((id, at) => ({
    traceId: Buffer.from(traceId, "hex"),
    spanId: Buffer.from(id, "hex"),
    parentSpanId: Buffer.from(at === 0 ? "" : ids[0]!, "hex"),
    name: at === 0 ? "agent" : "chat",
    startTimeUnixNano: began,
    endTimeUnixNano: began + 1_000_000_000n,
    attributes:
      at === 0
        ? []
        : [
            intAttribute("gen_ai.usage.input_tokens", BigInt(own[at]!.prompt_tokens)),
            intAttribute("gen_ai.usage.output_tokens", BigInt(own[at]!.completion_tokens)),
            textAttribute("gen_ai.response.model", LLM),
            textAttribute("gen_ai.completion", "An answer of some length. ".repeat(8)),
          ],
  }));
  const body = encodeRequest({ spans, resource: { "sumtree.project": project } });
  const reply = await client.send("spans of a trace", "/otel/v1/traces", body, {
    "content-type": "application/x-protobuf",
  });
  if (reply.status !== 200 || reply.body.length > 0) throw new Error(`spans were answered ${reply.status}`);
  const used = new Map(ids.map((id, at) => [id, own[at]! as Used]));
  used.set(ids[0]!, own.reduce(sum));
  expected.acknowledge(project, used);
}

function sum(one: Used, other: Used): Used {
  return {
    llm: one.llm,
    requests: one.requests + other.requests,
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
  };
}
