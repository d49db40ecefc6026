import { isJsonObject } from "../../shared/json.ts";
import { LeftOut, requireRecorded } from "./left-out.ts";
import { readCall, readParts, readResult } from "./read-part.ts";
import { first, textIn, type Json, type Piece, type Role, type Turn } from "./turn.ts";

const ROLES: ReadonlyMap<unknown, Role> = new Map([
  ["system", "system"],
  ["developer", "developer"],
  ["user", "user"],
  ["human", "user"],
  ["assistant", "assistant"],
  ["model", "assistant"],
  ["ai", "assistant"],
  ["tool", "tool"],
  ["function", "tool"],
]);

/** Reads a recorded message, or an item of Responses; `undefined` for a thought. Throws `LeftOut`. */
export function readTurn(value: unknown): Turn | undefined {
  requireRecorded(value);
  if (!isJsonObject(value)) throw new LeftOut("not_a_chat");
  const { message, type, role } = value;
  // OpenInference
  if (isJsonObject(message)) return readMessage(message);
  if (role != null) return readMessage(value);
  switch (type) {
    case "function_call":
      return { role: "assistant", pieces: [readCall(value)], continues: true };
    case "function_call_output":
      return { role: "tool", pieces: [readResult(value)] };
    case "reasoning":
      return undefined;
    case "item_reference":
    case "compaction":
      throw new LeftOut("history_elsewhere");
    default:
      // Gemini's contents may have no role
      if (Array.isArray(value["parts"])) return readMessage({ ...value, role: "user" });
      throw new LeftOut(typeof type === "string" ? "unsupported_content" : "not_a_chat");
  }
}

function readMessage(message: Json): Turn {
  const role = ROLES.get(message["role"]);
  if (role === undefined || message["audio"] != null) throw new LeftOut("unsupported_content");
  const said = readParts(first(message, "content", "contents", "parts"));
  if (role === "tool") return { role, ...toolResults(message, said) };
  const { function_call: call } = message;
  const refusal = textIn(message, "refusal");
  const pieces: readonly Piece[] = [
    ...said,
    ...(refusal === undefined ? [] : [{ kind: "refusal" as const, text: refusal }]),
    ...callsIn(first(message, "tool_calls", "toolCalls")),
    ...callsIn(call == null ? undefined : [call]),
  ];
  return { role, name: textIn(message, "name"), pieces };
}

/** Reads a list of tool calls. */
export function callsIn(list: unknown): readonly Piece[] {
  if (list == null) return [];
  if (!Array.isArray(list) || !list.every(isJsonObject)) throw new LeftOut("unsupported_content");
  return list.map(readCall);
}

/** A message of a tool is the result itself, unless its parts are results. */
function toolResults(message: Json, said: readonly Piece[]): Pick<Turn, "name" | "pieces"> {
  if (said.some(({ kind }) => kind === "result")) return { pieces: said };
  const id = textIn(message, "tool_call_id", "toolCallId");
  const name = textIn(message, "name");
  return { name: id === undefined ? undefined : name, pieces: [{ kind: "result", id, name, pieces: said }] };
}
