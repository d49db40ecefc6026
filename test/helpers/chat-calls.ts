export interface Chat {
  readonly id: string;
  readonly asked?: string;
  readonly said?: string;
  /** Members of the call in place of those here. */
  readonly more?: object;
}

/** Calls to a chat model, each a trace, a second apart. */
export function chatCalls(chats: readonly Chat[]): readonly object[] {
  return chats.map(({ id, asked = `q-${id}`, said = `a-${id}`, more = {} }, second) => ({
    id,
    trace_id: `t-${id}`,
    op_name: "chat",
    started_at: new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString(),
    ended_at: "2026-01-02T00:00:00Z",
    attributes: {},
    inputs: { model: "m", messages: [{ role: "user", content: asked }] },
    output: { choices: [{ index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" }] },
    summary: {},
    ...more,
  }));
}
