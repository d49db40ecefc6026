import { describe, expect, it } from "vitest";
import { readExample, type RecordedCall } from "../../../src/datasets/chat/read-example.ts";
import { chatLine } from "../../../src/datasets/export/lines.ts";
import { toCallEvent } from "../../../src/ingest/otlp/to-call-event.ts";
import { ORIGIN, otelSpan } from "../../helpers/otel-span.ts";
import { runs } from "../../helpers/runs.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";
import * as api from "../../models/chat-formats/api-formats.ts";
import {
  drawConversation,
  expectedChat,
  numberedIds,
  type Conversation,
} from "../../models/chat-formats/conversation.ts";
import * as otel from "../../models/chat-formats/otel-formats.ts";

const RUNS = runs(200, 5000);

function recorded({ inputs, output }: api.Recorded, more: Partial<RecordedCall> = {}): RecordedCall {
  return {
    op_name: "op",
    ended_at: "2026-01-01 00:00:00",
    exception: "",
    inputs: JSON.stringify(inputs),
    output: JSON.stringify(output),
    attributes: "{}",
    ...more,
  };
}

/** The call that a span is stored as. */
function recordedSpan(attributes: otel.SpanAttributes): RecordedCall {
  const event = toCallEvent(otelSpan(attributes), ORIGIN, "a-key");
  if (typeof event === "string") throw new Error(event);
  const text = (name: string): string => String(event.columns[name] ?? "");
  return {
    op_name: "chat",
    ended_at: "2026-01-01 00:00:00",
    exception: "",
    inputs: text("inputs"),
    output: text("output"),
    attributes: text("attributes"),
  };
}

function lineOf(call: RecordedCall): string {
  const example = readExample(call);
  return typeof example === "string" ? example : chatLine(example).line;
}

const FORMATS: Readonly<Record<string, (conversation: Conversation) => RecordedCall>> = {
  "OpenAI's chat": (one) => recorded(api.openaiChat(one)),
  "Anthropic's Messages": (one) => recorded(api.anthropic(one)),
  "OpenAI's Responses": (one) => recorded(api.responses(one)),
  Gemini: (one) => recorded(api.gemini(one)),
  "OpenTelemetry's conventions": (one) => recordedSpan(otel.semanticConventions(one)),
  OpenLLMetry: (one) => recordedSpan(otel.openLlmetry(one)),
  OpenInference: (one) => recordedSpan(otel.openInference(one)),
  "OpenInference with values": (one) => recordedSpan(otel.openInferenceValues(one)),
  "the AI SDK": (one) => recordedSpan(otel.aiSdk(one)),
};

describe("a conversation gives the same example, letter by letter", () => {
  it.each(Object.entries(FORMATS))("from %s", (name, write) => {
    const random = seededRandom();
    for (let run = 0; run < RUNS; run++) {
      const conversation = drawConversation(random, `m${run}`);
      const ids = name === "Gemini" ? numberedIds(conversation) : undefined;
      expect(lineOf(write(conversation))).toBe(JSON.stringify(expectedChat(conversation, ids)));
    }
  });
});
