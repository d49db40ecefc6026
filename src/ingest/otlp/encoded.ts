import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { MAX_REQUEST_ITEMS } from "./limits.ts";
import { MetricSchema, type Metric } from "./otlp_pb.ts";
import type { SpanOrigin } from "./span.ts";

/** A message as sent, decoded on demand, so that a malformed one does not reject the others. */
export interface Encoded {
  /** Returns the message, or the reason why it is rejected. */
  readonly decode: <Desc extends DescMessage>(schema: Desc) => MessageShape<Desc> | string;
  /** Returns the data points of this metric, decoded as `metric`. */
  readonly pointsOf: (metric: Metric) => readonly Encoded[];
}

/** A span, log record or metric. */
export interface SentItem {
  readonly origin: SpanOrigin;
  readonly encoded: Encoded;
}

/** Limit of attributes, events, links and nested values of one item or data point. */
const MAX_ITEMS = 50_000;

/** Returns the limit of what one message contains; a metric contains many data points, decoded separately. */
export function maxItemsOf(schema: DescMessage): number {
  return schema === MetricSchema ? MAX_REQUEST_ITEMS : MAX_ITEMS;
}

export function tooLarge(schema: DescMessage): string {
  return `${nounOf(schema)} has more than ${maxItemsOf(schema)} attributes, events and nested values`;
}

export function unreadable(schema: DescMessage): string {
  return `${nounOf(schema)} cannot be decoded`;
}

function nounOf({ name }: DescMessage): string {
  return `a ${name.replaceAll(/\B[A-Z]/g, " $&").toLowerCase()}`;
}
