import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { z } from "zod";
import { toIssues } from "../../http/schemas/zod-issues.ts";
import { invalid } from "../../shared/errors.ts";
import { isJsonObject } from "../../shared/json.ts";
import { readAttributes } from "./attributes.ts";
import { maxItemsOf, tooLarge, unreadable, type Encoded, type SentItem } from "./encoded.ts";
import { MAX_REQUEST_ITEMS, tooManyItems } from "./limits.ts";
import { unflatten } from "./unflatten.ts";
import { InstrumentationScopeSchema, ResourceSchema } from "./otlp_pb.ts";
import { TooManyItems, toProtobufJson } from "./protobuf-json.ts";
import type { SignalNames } from "./signal-names.ts";
import type { SpanOrigin } from "./span.ts";

const list = <Item>(item: z.ZodType<Item>) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

/** The request's lists by the same names for all signals. */
function requestSchema({ resources, scopes, items }: SignalNames) {
  const scope = z
    .object({ scope: z.unknown().optional(), [items]: list(z.unknown()) })
    .transform((sent) => ({ scope: sent.scope, items: sent[items] as readonly unknown[] }));
  const resource = z
    .object({ resource: z.unknown().optional(), [scopes]: list(scope) })
    .transform((sent) => ({ resource: sent.resource, scopes: sent[scopes] as z.infer<typeof scope>[] }));
  return z
    .object({ [resources]: list(resource) })
    .transform((sent) => sent[resources] as z.infer<typeof resource>[]);
}

/** Returns a reader of the items of OTLP/JSON requests. Its errors: validation, if one is malformed; payload_too_large. */
export function jsonDecoder(names: SignalNames): (body: unknown) => readonly SentItem[] {
  const request = requestSchema(names);
  return (body) => {
    if (countLists(body, names) > MAX_REQUEST_ITEMS) throw tooManyItems();
    const parsed = request.safeParse(body, { reportInput: true });
    if (!parsed.success) throw invalid(toIssues(parsed.error.issues, "body"));
    const sent: SentItem[] = [];
    for (const { resource, scopes } of parsed.data) {
      for (const { scope, items } of scopes) {
        const origin = readOrigin(resource, scope);
        if (sent.length + items.length > MAX_REQUEST_ITEMS) throw tooManyItems();
        for (const item of items) {
          sent.push(
            origin === undefined
              ? { origin: NO_ORIGIN, encoded: WITHOUT_ORIGIN }
              : { origin, encoded: encodedJson(item) },
          );
        }
      }
    }
    return sent;
  };
}

/** Counts resources and scopes before they are validated, because a million issues take seconds. */
function countLists(body: unknown, names: SignalNames): number {
  const resources = listIn(body, names.resources);
  return resources.reduce<number>((sum, one) => sum + listIn(one, names.scopes).length, resources.length);
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const member = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(member) ? member : [];
}

const NO_ORIGIN: SpanOrigin = { resource: new Map(), nestedResource: {}, scopeName: "", scopeVersion: "" };
const UNREADABLE_ORIGIN = "a resource or scope cannot be decoded";
const WITHOUT_ORIGIN: Encoded = { decode: () => UNREADABLE_ORIGIN, pointsOf: () => [] };
const options = { ignoreUnknownFields: true };

function readOrigin(resource: unknown, scope: unknown): SpanOrigin | undefined {
  const toJson = (value: unknown): JsonValue => toProtobufJson(value ?? {}, MAX_REQUEST_ITEMS);
  try {
    const { name, version } = fromJson(InstrumentationScopeSchema, toJson(scope), options);
    const { attributes } = fromJson(ResourceSchema, toJson(resource), options);
    const read = readAttributes(attributes);
    return { resource: read, nestedResource: unflatten(read), scopeName: name, scopeVersion: version };
  } catch {
    return undefined;
  }
}

function encodedJson(raw: unknown): Encoded {
  return {
    decode(schema) {
      try {
        return fromJson(schema, toProtobufJson(raw, maxItemsOf(schema)), options);
      } catch (error) {
        return error instanceof TooManyItems ? tooLarge(schema) : unreadable(schema);
      }
    },
    pointsOf: ({ data }) => listIn(isJsonObject(raw) && raw[data.case ?? ""], "dataPoints").map(encodedJson),
  };
}
