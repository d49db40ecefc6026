import { fromBinary } from "@bufbuild/protobuf";
import { AppError } from "../../shared/errors.ts";
import { readAttributes } from "./attributes.ts";
import { maxItemsOf, tooLarge, unreadable, type Encoded, type SentItem } from "./encoded.ts";
import { MAX_REQUEST_ITEMS, tooManyItems } from "./limits.ts";
import { unflatten } from "./unflatten.ts";
import { countItems } from "./measure.ts";
import { ExportRequestSchema, type ExportRequest } from "./otlp_pb.ts";
import type { SignalNames } from "./signal-names.ts";

const options = { readUnknownFields: false };

/** Reads the items of an OTLP/protobuf request. Errors: bad_request, if it is malformed; payload_too_large. */
export function itemsOfProtobuf(body: Uint8Array, names: SignalNames): readonly SentItem[] {
  return decodeRequest(body, names).resources.flatMap(({ resource, scopes }) => {
    const attributes = readAttributes(resource?.attributes ?? []);
    const nestedResource = unflatten(attributes);
    return scopes.flatMap(({ scope, items }) => {
      const origin = {
        resource: attributes,
        nestedResource,
        scopeName: scope?.name ?? "",
        scopeVersion: scope?.version ?? "",
      };
      return items.map((bytes): SentItem => ({ origin, encoded: encodedBytes(bytes) }));
    });
  });
}

function decodeRequest(body: Uint8Array, { service }: SignalNames): ExportRequest {
  try {
    const count = countItems(ExportRequestSchema, body, MAX_REQUEST_ITEMS + 1);
    if (count <= MAX_REQUEST_ITEMS) return fromBinary(ExportRequestSchema, body, options);
  } catch (cause) {
    throw new AppError("bad_request", `The body is not an encoded ${service}Request.`, { cause });
  }
  throw tooManyItems();
}

function encodedBytes(bytes: Uint8Array): Encoded {
  return {
    decode(schema) {
      const max = maxItemsOf(schema);
      try {
        if (countItems(schema, bytes, max + 1) > max) return tooLarge(schema);
        return fromBinary(schema, bytes, options);
      } catch {
        return unreadable(schema);
      }
    },
    pointsOf: ({ data }) => data.value?.dataPoints.map(encodedBytes) ?? [],
  };
}
