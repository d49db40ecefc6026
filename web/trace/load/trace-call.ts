import { shortName } from "../../format/op-name.ts";
import { oneLine } from "../../format/plain-text.ts";
import type { TraceCall } from "../tree/call-tree.ts";

/** A line of `/trace/calls`: the first names the values of the others. */
export type CallLine = readonly (string | number | null)[];

/** Reads the lines after the one with the names. */
export function callReader(head: CallLine): (line: CallLine) => TraceCall {
  const at = (name: string): number => head.indexOf(name);
  const [id, parent, op, display] = [at("id"), at("parent_id"), at("op_name"), at("display_name")];
  const [started, ended, exception] = [at("started_ms"), at("ended_ms"), at("exception")];
  const nameOf = knownNames();
  return (line) => ({
    id: String(line[id]),
    parentId: textOf(line[parent]),
    name: nameOf(String(line[op]), textOf(line[display])),
    startMs: Number(line[started]),
    endMs: typeof line[ended] === "number" ? line[ended] : null,
    exception: typeof line[exception] === "string" ? oneLine(line[exception]) : null,
  });
}

function textOf(value: CallLine[number] | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** A hundred thousand calls have few names, so each is kept once. */
function knownNames(): (op: string, display: string | null) => string {
  const names = new Map<string, string>();
  return (op, display) => {
    const key = display === null ? op : `${op}\n${display}`;
    const known = names.get(key);
    if (known !== undefined) return known;
    const name = shortName(op, display);
    names.set(key, name);
    return name;
  };
}
