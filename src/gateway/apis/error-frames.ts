import { anthropicTypeOf, type ErrorObject } from "../error-envelope.ts";

/** Formats an error event of Anthropic's Messages API. */
export function messagesFrame({ type, code, message }: ErrorObject): Buffer {
  const error = { type: anthropicTypeOf(type), message, code };
  return Buffer.from(`event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`);
}

/** Formats an error event of the Responses API, in flat and nested form, because SDKs read either. */
export function responsesFrame(error: ErrorObject): Buffer {
  const { message, code, param } = error;
  return Buffer.from(
    `event: error\ndata: ${JSON.stringify({ type: "error", code, message, param, error })}\n\n`,
  );
}
