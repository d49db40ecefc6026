import { isUtf8 } from "node:buffer";
import type { FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { countValues } from "../../shared/json-size.ts";
import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";
import { takesForm } from "../apis/endpoint-paths.ts";
import { checkArtifact } from "../named-projects.ts";
import { formFields, isForm } from "../recording/form-request.ts";
import { hasOwnCredentials } from "../relay/credentials.ts";
import { hasOddCharset, isJson } from "../relay/headers.ts";
import { hasBody } from "../relay/upload.ts";
import { pathBehindPrefix } from "../relay/upstream-path.ts";
import type { ResponseIndex } from "../recording/response-index.ts";
import type { Target } from "../upstreams.ts";
import type { OwnerLedger } from "./ledger/owner-ledger.ts";
import { namedResourcesIn, type NamedResource } from "./named-resources.ts";
import { checkOwned, notFound } from "./resource-access.ts";

const MAX_VALUES = 1_000_000;

/**
 * Reads what a body names, if no upstream can read it otherwise: UTF-8 without a byte order mark, as JSON or as the form that
 * the endpoint takes. `plain`: the decompressed body. Errors: unsupported_media_type; bad_request.
 */
export function readNamed(
  { raw, url, headers }: FastifyRequest,
  plain: Buffer | undefined,
): readonly NamedResource[] {
  if (!hasBody(raw) || plain?.length === 0) return [];
  const { "content-type": type = "application/json" } = headers;
  const isFormBody = isForm(type) && takesForm(pathBehindPrefix(url));
  if (plain === undefined || hasOddCharset(type) || !(isFormBody || isJson(type)))
    throw new AppError("unsupported_media_type", "The gateway cannot read this media type or encoding.");
  if (isFormBody) {
    const members = formFields(plain, type)?.map((field) =>
      field.map((text) => JSON.stringify(text)).join(":"),
    );
    if (members !== undefined) return namedResourcesIn(`{${members.join()}}`);
    throw new AppError("bad_request", "The body is not a form that all servers read alike.");
  }
  if (countValues(plain, MAX_VALUES) > MAX_VALUES)
    throw new AppError("bad_request", "The body has too many values.");
  const text = isUtf8(plain) ? plain.toString("utf8") : "";
  if (isJsonObject(parseOrUndefined(text))) return namedResourcesIn(text);
  throw new AppError("bad_request", "The body is not a JSON object in UTF-8 without a byte order mark.");
}

export interface NamedCheck {
  readonly responses: ResponseIndex;
  readonly ledger: OwnerLedger;
  readonly target: Target;
}

/**
 * Checks that the projects of a key own what a body names. The provider checks what it keeps itself if the client's own
 * credentials replace the operator's. Errors: not_found; validation; `StorageError`.
 */
export async function checkNamed(
  request: FastifyRequest,
  resources: readonly NamedResource[],
  options: NamedCheck,
): Promise<void> {
  const { grant } = request;
  const checksItself = hasOwnCredentials(request) && options.target.credential !== undefined;
  for (const { kind, text } of resources) {
    if (kind === "model") checkArtifact(grant, ["body", "model"], text);
    else if (kind === "other" && !checksItself) throw notFound("Resource");
    else if (kind === "response" && (await options.responses.makerFor(request, text)) === undefined)
      throw notFound("Response");
  }
  const models = resources.flatMap(({ kind, text }) => (kind === "model" ? [text] : []));
  await checkOwned(grant, options.ledger, { model: models });
}
