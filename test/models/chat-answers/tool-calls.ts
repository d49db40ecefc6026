import type { Draw } from "./draw.ts";
import { bytesOf, join, type Json, type Step } from "./step.ts";

/**
 * How servers tell the fragments of several calls apart: by an index of each, told with the id once or every time; by
 * the id alone, all at index 0 or at none; or not at all, and then each call comes in one piece.
 */
const STYLES = [
  "own_index",
  "repeated",
  "new_ids",
  "same_index",
  "no_index",
  "only_names",
  "only_names_at_0",
] as const;
type Style = (typeof STYLES)[number];

interface Fragment extends Step {
  readonly call: number;
}

/** Styles that the official SDK assembles. */
export const OFFICIAL_STYLES: readonly Style[] = ["own_index", "repeated", "new_ids"];

/** The calls of a message. Where the server tells each fragment's place, the fragments of the calls are mixed. */
export function toolCallSteps(draw: Draw, styles: readonly Style[] = STYLES): Step[] {
  const style = draw.pick(...styles);
  const calls = Array.from({ length: 1 + draw.upTo(2) }, (_, at) => fragmentsOf(draw, style, at));
  const mixed = OFFICIAL_STYLES.includes(style) ? mix(draw, calls) : calls.flat();
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
  const isNameless = style === "only_names" || style === "only_names_at_0";
  const text = type === "function" ? JSON.stringify({ [draw.text()]: draw.text() }) : draw.text();
  const id = draw.id("call_");
  const index =
    style === "no_index" || style === "only_names"
      ? {}
      : { index: style === "same_index" || style === "only_names_at_0" ? 0 : at };
  const ids = isNameless ? {} : { id };
  const calls = (message: Json): Json[] => (message["tool_calls"] ??= []) as Json[];
  const isWhole = isNameless || draw.chance(0.5);
  const begun: Fragment = {
    call: at,
    delta: { tool_calls: [{ ...index, ...ids, type, [type]: { name, [member]: isWhole ? text : "" } }] },
    add: (message) => calls(message).push({ ...ids, type, [type]: { name, [member]: isWhole ? text : "" } }),
    wrote: bytesOf(name) + (isWhole ? bytesOf(text) : 0),
  };
  if (isWhole) return [begun];
  const rest = draw.pieces(text).map((piece): Fragment => {
    const again = style === "repeated" || (style === "no_index" && draw.chance(0.5));
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
