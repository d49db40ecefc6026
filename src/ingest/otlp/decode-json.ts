import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { z } from "zod";
import { toIssues } from "../../http/schemas/zod-issues.ts";
import { invalid } from "../../shared/errors.ts";
import { isJsonObject, isTooDeep } from "../../shared/json.ts";
import { readAttributes } from "./attributes.ts";
import { fromMessage, MAX_SPAN_ITEMS, TOO_LARGE, UNREADABLE } from "./decode-span.ts";
import { MAX_REQUEST_ITEMS, tooManyItems } from "./limits.ts";
import { unflatten } from "./unflatten.ts";
import { InstrumentationScopeSchema, ResourceSchema, SpanSchema } from "./otlp_pb.ts";
import { TooManyItems, toProtobufJson } from "./protobuf-json.ts";
import type { OtelSpan, SentSpan, SpanOrigin } from "./span.ts";

const list = <Item>(item: z.ZodType<Item>) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

const request = z.object({
  resourceSpans: list(
    z.object({
      resource: z.unknown().optional(),
      scopeSpans: list(z.object({ scope: z.unknown().optional(), spans: list(z.unknown()) })),
    }),
  ),
});

/** Reads the spans of an OTLP/JSON request. Errors: validation, if it is malformed; payload_too_large. */
export function spansOfJson(body: unknown): readonly SentSpan[] {
  if (countLists(body) > MAX_REQUEST_ITEMS) throw tooManyItems();
  const parsed = request.safeParse(body, { reportInput: true });
  if (!parsed.success) throw invalid(toIssues(parsed.error.issues, "body"));
  const spans: SentSpan[] = [];
  for (const { resource, scopeSpans } of parsed.data.resourceSpans) {
    for (const { scope, spans: sent } of scopeSpans) {
      const origin = readOrigin(resource, scope);
      if (spans.length + sent.length > MAX_REQUEST_ITEMS) throw tooManyItems();
      for (const span of sent) {
        spans.push(
          typeof origin === "string"
            ? { origin: NO_ORIGIN, decode: () => origin }
            : { origin, decode: () => decodeSpan(span) },
        );
      }
    }
  }
  return spans;
}

/** Counts resources and scopes before they are validated, because a million issues take seconds. */
function countLists(body: unknown): number {
  const listIn = (value: unknown, name: string): readonly unknown[] => {
    const list = isJsonObject(value) ? value[name] : undefined;
    return Array.isArray(list) ? list : [];
  };
  const resources = listIn(body, "resourceSpans");
  return resources.reduce<number>((sum, one) => sum + listIn(one, "scopeSpans").length, resources.length);
}

const UNREADABLE_ORIGIN = "a resource or scope cannot be decoded";
const NO_ORIGIN: SpanOrigin = { resource: new Map(), nestedResource: {}, scopeName: "", scopeVersion: "" };
const options = { ignoreUnknownFields: true };

function readOrigin(resource: unknown, scope: unknown): SpanOrigin | string {
  if (isTooDeep(resource) || isTooDeep(scope)) return UNREADABLE_ORIGIN;
  const toJson = (value: unknown): JsonValue => toProtobufJson(value ?? {}, MAX_REQUEST_ITEMS);
  try {
    const { name, version } = fromJson(InstrumentationScopeSchema, toJson(scope), options);
    const { attributes } = fromJson(ResourceSchema, toJson(resource), options);
    const read = readAttributes(attributes);
    return { resource: read, nestedResource: unflatten(read), scopeName: name, scopeVersion: version };
  } catch {
    return UNREADABLE_ORIGIN;
  }
}

function decodeSpan(raw: unknown): OtelSpan | string {
  if (isTooDeep(raw)) return UNREADABLE;
  try {
    return fromMessage(fromJson(SpanSchema, toProtobufJson(raw, MAX_SPAN_ITEMS), options));
  } catch (error) {
    return error instanceof TooManyItems ? TOO_LARGE : UNREADABLE;
  }
}
