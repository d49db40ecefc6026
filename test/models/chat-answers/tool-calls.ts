import type { Draw } from "./draw.ts";
import { bytesOf, join, type Json, type Step } from "./step.ts";

/** How servers tell the fragments of several calls apart: by an index of each, with the id once, every time, or a new one. */
const STYLES = ["own_index", "repeated", "new_ids"] as const;
type Style = (typeof STYLES)[number];

interface Fragment extends Step {
  readonly call: number;
}

/** The calls of a message, whose fragments are mixed. */
export function toolCallSteps(draw: Draw): Step[] {
  const style = draw.pick(...STYLES);
  const calls = Array.from({ length: 1 + draw.upTo(2) }, (_, at) => fragmentsOf(draw, style, at));
  const mixed = mix(draw, calls);
  // the calls of a message that is cut stand in the order in which they began
  return draw.chance(0.2) ? pairs(mixed) : mixed;
}

/** Calls begin in their order; beyond that, fragments come in any order. */
function mix(draw: Draw, calls: readonly Fragment[][]): Fragment[] {
  const begun = calls.map(([first]) => first!);
  const left = calls.map(([, ...rest]) => rest);
  const rest: Fragment[] = [];
  for (
    let open = left.filter((one) => one.length > 0);
    open.length > 0;
    open = left.filter((one) => one.length > 0)
  ) {
    rest.push(draw.pick(...open).shift()!);
  }
  return [...begun, ...rest];
}

/** Two fragments in one delta, where they are of different calls. */
function pairs(fragments: readonly Fragment[]): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < fragments.length; at++) {
    const one = fragments[at]!;
    const next = fragments[at + 1];
    if (next === undefined || next.call === one.call) {
      steps.push(one);
      continue;
    }
    at++;
    steps.push({
      delta: { tool_calls: [one, next].flatMap(({ delta }) => delta["tool_calls"] as Json[]) },
      add(message) {
        one.add(message);
        next.add(message);
      },
      wrote: one.wrote + next.wrote,
    });
  }
  return steps;
}

function fragmentsOf(draw: Draw, style: Style, at: number): Fragment[] {
  const type = draw.chance(0.7) ? "function" : "custom";
  const member = type === "function" ? "arguments" : "input";
  const name = draw.chance(0.5) ? "roll_up" : draw.id("tool_");
  const text = type === "function" ? JSON.stringify({ [draw.text()]: draw.text() }) : draw.text();
  const id = draw.id("call_");
  const index = { index: at };
  const ids = { id };
  const calls = (message: Json): Json[] => (message["tool_calls"] ??= []) as Json[];
  const isWhole = draw.chance(0.5);
  const begun: Fragment = {
    call: at,
    delta: { tool_calls: [{ ...index, ...ids, type, [type]: { name, [member]: isWhole ? text : "" } }] },
    add: (message) => calls(message).push({ ...ids, type, [type]: { name, [member]: isWhole ? text : "" } }),
    wrote: bytesOf(name) + (isWhole ? bytesOf(text) : 0),
  };
  if (isWhole) return [begun];
  const rest = draw.pieces(text).map((piece): Fragment => {
    const again = style === "repeated";
    const said = again
      ? { ...ids, type, [type]: { name, [member]: piece } }
      : { [type]: { [member]: piece } };
    const fresh = style === "new_ids" ? { id: draw.id("call_") } : {};
    return {
      call: at,
      delta: { tool_calls: [{ ...index, ...said, ...fresh }] },
      add(message) {
        const call = calls(message)[at]!;
        const made = call[type] as Json;
        join(made, member, piece);
        Object.assign(call, fresh);
      },
      wrote: bytesOf(piece) + (again ? bytesOf(name) : 0),
    };
  });
  return [begun, ...rest];
}
