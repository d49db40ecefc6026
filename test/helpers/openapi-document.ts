import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { OpenAPIV3_1 } from "openapi-types";

export const OPENAPI_PATH = join(import.meta.dirname, "../../openapi.json");
export const document = JSON.parse(readFileSync(OPENAPI_PATH, "utf8")) as OpenAPIV3_1.Document;

export interface DescribedRoute {
  /** `POST /call/start` */
  readonly route: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly operation: OpenAPIV3_1.OperationObject;
}

export const describedRoutes: readonly DescribedRoute[] = Object.entries(document.paths ?? {}).flatMap(
  ([path, item]) =>
    Object.entries(item ?? {}).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase() as DescribedRoute["method"],
      path,
      operation: operation as OpenAPIV3_1.OperationObject,
    })),
);

const ajv = new Ajv2020({ strict: false, allErrors: false });
addFormats.default(ajv);
ajv.addFormat("binary", true);
ajv.addSchema(document, "openapi");
const compiled = new Map<string, ValidateFunction>();

/** Validates a value against the schema at a path of the document; `undefined` if it is valid. */
export function problemOf(value: unknown, ...place: readonly string[]): string | undefined {
  const pointer = place.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
  const ref = `openapi#/${encodeURI(pointer)}`;
  const validate = compiled.get(ref) ?? ajv.compile({ $ref: ref });
  compiled.set(ref, validate);
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: "value" });
}

/** The place of a response in the document, and the response; undefined when there is none for the status. */
export function responseAt(
  { path, method, operation }: DescribedRoute,
  status: number,
): { readonly place: readonly string[]; readonly response: OpenAPIV3_1.ResponseObject } | undefined {
  const responses = (operation.responses ?? {}) as Record<
    string,
    OpenAPIV3_1.ResponseObject | OpenAPIV3_1.ReferenceObject
  >;
  const key = Object.hasOwn(responses, status) ? String(status) : "default";
  const found = responses[key];
  if (found === undefined) return undefined;
  if (!("$ref" in found)) {
    return { place: ["paths", path, method.toLowerCase(), "responses", key], response: found };
  }
  const place = found.$ref.slice(2).split("/");
  return {
    place,
    response: document.components?.responses?.[place.at(-1)!] as OpenAPIV3_1.ResponseObject,
  };
}
