import { anthropicTypeOf, type ErrorObject } from "../error-envelope.ts";

/** An error event of Anthropic's API. */
export function messagesFrame({ type, code, message }: ErrorObject): Buffer {
  const error = { type: anthropicTypeOf(type), message, code };
  return Buffer.from(`event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`);
}

/** An error event of the Responses API, in the flat form and in the nested one: its SDKs read either. */
export function responsesFrame(error: ErrorObject): Buffer {
  const { message, code, param } = error;
  return Buffer.from(
    `event: error\ndata: ${JSON.stringify({ type: "error", code, message, param, error })}\n\n`,
  );
}
