import { LeftOut } from "./left-out.ts";
import type { Json, Piece, Role, ToolResult, Turn } from "./turn.ts";

interface PendingCall {
  readonly id: string;
  readonly name: string;
}

/** Writes turns as messages of OpenAI's chat. Calls without an id get `call_0`, `call_1`, …, and their results too. */
export class MessageWriter {
  readonly messages: Json[] = [];
  readonly #ids = new Set<string>();
  #pending: PendingCall[] = [];

  /** Throws `LeftOut` for content that a message of this role cannot have. */
  add(turns: readonly Turn[]): void {
    for (const turn of joined(turns)) {
      if (turn.role === "assistant") this.messages.push(this.assistant(turn));
      else this.#addOthers(turn);
    }
  }

  assistant({ pieces, name }: Omit<Turn, "role">): Json {
    const firstCall = pieces.findIndex(({ kind }) => kind === "call");
    const said = firstCall === -1 ? pieces : pieces.slice(0, firstCall);
    const behind = pieces.slice(said.length).filter((piece) => !isEmptyText(piece));
    const calls = behind.filter((piece) => piece.kind === "call");
    const texts = said.filter(({ kind }) => kind === "text");
    const refusals = said.filter((piece) => piece.kind === "refusal");
    const isOwn = behind.length === calls.length && said.length === texts.length + refusals.length;
    if (!isOwn || refusals.length > 1) throw new LeftOut("unsupported_content");
    const [refusal] = refusals;
    return {
      role: "assistant",
      content: contentOf(texts),
      ...(refusal !== undefined && { refusal: refusal.text }),
      ...(name !== undefined && { name }),
      ...(calls.length > 0 && { tool_calls: calls.map((call) => this.#toolCall(call)) }),
    };
  }

  /** Results of tools stand in the messages of users in some formats. */
  #addOthers({ role, name, pieces }: Turn): void {
    let said: Piece[] = [];
    const flush = (): void => {
      if (said.length > 0) this.messages.push(messageOf(role, said, name));
      said = [];
    };
    if (pieces.length === 0) throw new LeftOut("unsupported_content");
    for (const piece of pieces) {
      if (piece.kind !== "result") said.push(piece);
      else {
        flush();
        this.messages.push(this.#toolMessage(piece, name));
      }
    }
    flush();
  }

  #toolCall(call: Extract<Piece, { kind: "call" }>): Json {
    const id = call.id ?? this.#newId();
    this.#ids.add(id);
    this.#pending.push({ id, name: call.name });
    return { id, type: "function", function: { name: call.name, arguments: call.args } };
  }

  #newId(): string {
    let number = this.#ids.size;
    while (this.#ids.has(`call_${number}`)) number++;
    return `call_${number}`;
  }

  #toolMessage({ id, name: tool, pieces }: ToolResult, name: string | undefined): Json {
    if (pieces.some(({ kind }) => kind !== "text")) throw new LeftOut("unsupported_content");
    const call = this.#pending.find((one) => (id === undefined ? one.name === tool : one.id === id));
    if (id === undefined && call === undefined) throw new LeftOut("unmatched_tool_result");
    this.#pending = this.#pending.filter((one) => one !== call);
    const named = name === undefined ? {} : { name };
    return { role: "tool", content: contentOf(pieces) ?? "", ...named, tool_call_id: id ?? call!.id };
  }
}

function joined(turns: readonly Turn[]): readonly Turn[] {
  const all: Turn[] = [];
  for (const turn of turns) {
    const last = all.at(-1);
    if (turn.continues === true && last?.role === "assistant")
      all[all.length - 1] = { ...last, pieces: [...last.pieces, ...turn.pieces] };
    else all.push(turn);
  }
  return all;
}

function messageOf(role: Role, pieces: readonly Piece[], name: string | undefined): Json {
  const hasMedia = pieces.some(({ kind }) => kind === "media");
  const isOwn = pieces.every(({ kind }) => kind === "text" || kind === "media");
  if (!isOwn || role === "tool" || (hasMedia && role !== "user")) throw new LeftOut("unsupported_content");
  return { role, content: contentOf(pieces), ...(name !== undefined && { name }) };
}

/** A single text is content as it is. */
function contentOf(pieces: readonly Piece[]): string | readonly Json[] | null {
  const [first] = pieces;
  if (first === undefined) return null;
  if (pieces.length === 1 && first.kind === "text") return first.text;
  return pieces.map((piece) =>
    piece.kind === "media" ? piece.part : { type: "text", text: piece.kind === "text" ? piece.text : "" },
  );
}

function isEmptyText(piece: Piece): boolean {
  return piece.kind === "text" && piece.text === "";
}
