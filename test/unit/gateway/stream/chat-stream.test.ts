import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChatStream } from "../../../../src/gateway/stream/chat-stream.ts";
import type { StreamEventKind } from "../../../../src/gateway/stream/stream-event.ts";
import { splitAt } from "../../../helpers/random-splits.ts";

const DONE = "data: [DONE]\n\n";
const USAGE = 'data: {"choices":[],"usage":{"total_tokens":1}}\n\n';
const EVENTS = [
  'data: {"choices":[{"delta":{"content":"ä🌲"}}],"usage":null}\n\n',
  'data: {"choices":[],"prompt_filter_results":[]}\n\n',
  'data: {"choices":[{"delta":{"content":"say \\"error\\""}}]}\n\n',
  ": comment\n\n",
  "event: x\n\n",
  "retry: 3\n\n",
];
const lineEnds = [(text: string) => text, (text: string) => text.replaceAll("\n", "\r\n")];

function pass(text: string, cuts: readonly number[], hideUsage: boolean) {
  const kinds: StreamEventKind[] = [];
  const stream = new ChatStream({ hideUsage, onEvent: ({ kind }) => void kinds.push(kind) });
  const passed = splitAt(Buffer.from(text), cuts).flatMap((chunk) => stream.push(chunk));
  return { text: Buffer.concat([...passed, ...stream.finish()]).toString(), kinds, stream };
}

describe("ChatStream", () => {
  it("passes everything but the usage that was not asked for, however it is split", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...EVENTS, USAGE), { maxLength: 10 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        fc.constantFrom(...lineEnds),
        fc.boolean(),
        (events, cuts, ended, hideUsage) => {
          const { text, kinds, stream } = pass(ended([...events, DONE].join("")), cuts, hideUsage);
          const shown = hideUsage ? events.filter((event) => event !== USAGE) : events;
          expect(text).toBe(ended([...shown, DONE].join("")));
          expect(kinds.filter((kind) => kind === "usage_only")).toHaveLength(
            events.filter((event) => event === USAGE).length,
          );
          expect([stream.done, stream.complete]).toEqual([true, true]);
        },
      ),
    );
  });

  it("lets nothing through after the end marker", () => {
    expect(pass(`${DONE}data: more\n\n`, [], false).text).toBe(DONE);
  });
});
