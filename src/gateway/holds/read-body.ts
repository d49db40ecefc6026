import { isUtf8 } from "node:buffer";
import { AppError } from "../../shared/errors.ts";
import { countValues } from "../../shared/json-size.ts";
import { isJsonObject, isTooDeep, parseOrUndefined } from "../../shared/json.ts";
import type { Json } from "../apis/draft.ts";
import { formFields, isForm } from "../recording/form-request.ts";
import { hasOddCharset } from "../relay/headers.ts";

/** A request body as all servers read it. */
export interface WholeBody {
  /** The JSON object, or the fields of a form as text. */
  readonly body: Json;
  /** Length of a form, whose files are not read; absent for JSON. */
  readonly formBytes?: number;
}

const MAX_VALUES = 150_000;
/** Fields that decide what a request may use. */
const NAMED_ONCE = ["model", "n"];

/** Parses a whole body for its worst case. Cost: about 10 ms per MB. Errors: bad_request if servers may read it differently. */
export function readWholeBody(bytes: Buffer | undefined, contentType: string | undefined): WholeBody {
  if (bytes === undefined || hasOddCharset(contentType ?? ""))
    throw new AppError(
      "bad_request",
      "The gateway cannot read this encoding, so the budget cannot be checked.",
    );
  if (isForm(contentType)) return { body: readForm(bytes, contentType ?? ""), formBytes: bytes.length };
  if (countValues(bytes, MAX_VALUES) > MAX_VALUES)
    throw new AppError("bad_request", `The body has more than ${MAX_VALUES} values.`);
  const body = isUtf8(bytes) ? parseOrUndefined(bytes.toString("utf8")) : undefined;
  if (!isJsonObject(body) || isTooDeep(body))
    throw new AppError("bad_request", "The body is not a JSON object in UTF-8 without a byte order mark.");
  return { body };
}

function readForm(bytes: Buffer, contentType: string): Json {
  const fields = formFields(bytes, contentType);
  const isRepeated = (name: string): boolean => (fields ?? []).filter(([one]) => one === name).length > 1;
  if (fields === undefined || NAMED_ONCE.some(isRepeated))
    throw new AppError("bad_request", "The body is not a form that all servers read alike.");
  return Object.fromEntries(fields);
}
