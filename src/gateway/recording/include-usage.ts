const MEMBER = '"stream_options":{"include_usage":true},';

/** Asks for the usage of a stream in a non-empty JSON object, unless the client has set any `stream_options`. */
export function injectIncludeUsage(
  body: Buffer,
  parsed: Readonly<Record<string, unknown>>,
): Buffer | undefined {
  if (Object.hasOwn(parsed, "stream_options")) return undefined;
  const at = body.indexOf("{") + 1;
  return Buffer.concat([body.subarray(0, at), Buffer.from(MEMBER), body.subarray(at)]);
}
