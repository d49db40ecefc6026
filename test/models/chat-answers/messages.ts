import type { Draw } from "./draw.ts";
import { bytesOf, join, type Json, type Step } from "./step.ts";
import { toolCallSteps } from "./tool-calls.ts";

/** A text that comes in pieces. `wrap` puts a piece in its place in a delta; `at` finds that place in the message. */
function textSteps(
  draw: Draw,
  text: string,
  {
    wrap,
    add,
    wrote = bytesOf,
  }: {
    wrap: (piece: string) => Json;
    add: (message: Json, piece: string) => void;
    wrote?: (piece: string) => number;
  },
): Step[] {
  return draw.pieces(text).map((piece) => ({
    delta: wrap(piece),
    add: (message) => add(message, piece),
    wrote: wrote(piece),
  }));
}

/** A member whose pieces are joined. */
function joined(draw: Draw, member: string): Step[] {
  return textSteps(draw, draw.text(), {
    wrap: (piece) => ({ [member]: piece }),
    add: (message, piece) => join(message, member, piece),
  });
}

/** The two names that some servers give the same reasoning. */
function reasonedTwice(draw: Draw): Step[] {
  return textSteps(draw, draw.text(), {
    wrap: (piece) => ({ reasoning: piece, reasoning_content: piece }),
    add(message, piece) {
      join(message, "reasoning", piece);
      join(message, "reasoning_content", piece);
    },
  });
}

/** Reasoning as a text and, beside it, as a list of details. */
function detailedReasoning(draw: Draw): Step[] {
  const details = (message: Json): Json[] => (message["reasoning_details"] ??= []) as Json[];
  const first = { type: "reasoning.text", format: "vendor-v1", index: 0 };
  const said = textSteps(draw, draw.text(), {
    wrap: (piece) => ({ reasoning: piece, reasoning_details: [{ ...first, text: piece }] }),
    add(message, piece) {
      join(message, "reasoning", piece);
      const [one] = details(message);
      if (one === undefined) details(message).push({ ...first, text: piece });
      else join(one, "text", piece);
    },
  });
  const signature = draw.id("sig");
  const signed: Step = {
    delta: { reasoning_details: [{ ...first, signature }] },
    add: (message) => Object.assign(details(message)[0]!, { signature }),
    wrote: 0,
  };
  const hidden = {
    type: "reasoning.encrypted",
    data: draw.id("data"),
    id: draw.id("rs_"),
    index: 1,
  };
  return [...said, signed, whole("reasoning_details", hidden)];
}

/** An item of a list that comes in one piece. */
function whole(member: string, item: Json): Step {
  return {
    delta: { [member]: [item] },
    add: (message) => ((message[member] ??= []) as Json[]).push(structuredClone(item)),
    wrote: 0,
  };
}

/** Content in parts: thinking, then text. */
function thinking(draw: Draw): Step[] {
  const parts = (message: Json): Json[] => {
    if (!Array.isArray(message["content"])) message["content"] = [];
    return message["content"] as Json[];
  };
  const thoughts = textSteps(draw, draw.text(), {
    wrap: (text) => ({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] }),
    add(message, text) {
      const [part] = parts(message);
      if (part === undefined) parts(message).push({ type: "thinking", thinking: [{ type: "text", text }] });
      else {
        const [thought] = part["thinking"] as Json[];
        join(thought!, "text", text);
      }
    },
  });
  const isPlain = draw.chance(0.5);
  const said = textSteps(draw, draw.text(), {
    wrap: (text) => ({ content: isPlain ? text : [{ type: "text", text }] }),
    add(message, text) {
      const last = parts(message).at(-1);
      if (last?.["type"] === "text") join(last, "text", text);
      else if (text !== "" || !isPlain) parts(message).push({ type: "text", text });
    },
  });
  return [...thoughts, ...said];
}

function calledFunction(draw: Draw): Step[] {
  const name = draw.id("f");
  const first: Step = {
    delta: { function_call: { name, arguments: "" } },
    add: (message) => (message["function_call"] = { name, arguments: "" }),
    wrote: bytesOf(name),
  };
  const rest = textSteps(draw, draw.text(), {
    wrap: (piece) => ({ function_call: { arguments: piece } }),
    add(message, piece) {
      const call = message["function_call"] as Json;
      join(call, "arguments", piece);
    },
  });
  return [first, ...rest];
}

function spoken(draw: Draw): Step[] {
  const audio = (message: Json): Json => (message["audio"] ??= {}) as Json;
  const named = { id: draw.id("audio_") };
  const ended = { expires_at: 1_900_000_000 + draw.upTo(9) };
  const told = (facts: Json): Step => ({
    delta: { audio: facts },
    add: (message) => Object.assign(audio(message), facts),
    wrote: 0,
  });
  const append = (message: Json, member: string, piece: string): void => {
    join(audio(message), member, piece);
  };
  return [
    told(named),
    ...textSteps(draw, draw.text(), {
      wrap: (transcript) => ({ audio: { transcript } }),
      add: (message, piece) => append(message, "transcript", piece),
    }),
    ...textSteps(draw, draw.id("base64"), {
      wrap: (data) => ({ audio: { data } }),
      add: (message, piece) => append(message, "data", piece),
      wrote: () => 0,
    }),
    told(ended),
  ];
}

const annotation = (draw: Draw): Json => ({
  type: "url_citation",
  url_citation: {
    url: `https://example.org/${draw.id("")}`,
    title: draw.text(),
    start_index: draw.upTo(9),
    end_index: 20,
  },
});
const image = (draw: Draw): Json => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${draw.id("")}` },
});

/** Members that no interface names. */
function unknown(draw: Draw): Step[] {
  const facts = {
    vendor_note: draw.text(),
    vendor: { flag: true, levels: [1, 2.5], deep: { of: draw.text() } },
  };
  return [{ delta: facts, add: (message) => Object.assign(message, structuredClone(facts)), wrote: 0 }];
}

/** Creates the steps of a message: the order within each list is fixed, the lists are interleaved. */
export function messageSteps(draw: Draw): Step[][] {
  const some = (probability: number, steps: () => Step[]): Step[][] =>
    draw.chance(probability) ? [steps()] : [];
  const content = draw.pick(
    () => joined(draw, "content"),
    () => joined(draw, "content"),
    () => thinking(draw),
    () => [],
  );
  const reasoning = draw.pick(
    () => [],
    () => joined(draw, "reasoning_content"),
    () => reasonedTwice(draw),
    () => detailedReasoning(draw),
  );
  return [
    content(),
    reasoning(),
    ...some(0.1, () => joined(draw, "refusal")),
    ...some(0.5, () => toolCallSteps(draw)),
    ...some(0.1, () => calledFunction(draw)),
    ...some(0.15, () => spoken(draw)),
    ...some(0.2, () =>
      Array.from({ length: 1 + draw.upTo(2) }, () => whole("annotations", annotation(draw))),
    ),
    ...some(0.2, () => Array.from({ length: 1 + draw.upTo(2) }, () => whole("images", image(draw)))),
    ...some(0.2, () => unknown(draw)),
  ];
}
