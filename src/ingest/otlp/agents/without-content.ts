import type { Attributes } from "../attributes.ts";
import type { OtelSpan } from "../span.ts";
import { isPlain } from "./agent-attributes.ts";

/** Ends of the names of text attributes that name something, and so have no content. */
const LABEL =
  /(?:^|[._])(?:id|name|model|type|kind|version|status|operation|operationid|provider|system|source|decision|effort|speed|mode|timestamp|cost_center|department|repository|branch|revision|arch)$/i;

/** Removes prompts, arguments and outputs from a span of an agent. The message of a failed tool can have some, too. */
export function withoutContent(span: OtelSpan): OtelSpan {
  return {
    ...span,
    attributes: labelsIn(span.attributes),
    events: span.events.map((event) => ({ ...event, attributes: labelsIn(event.attributes) })),
    links: span.links.map((link) => ({ ...link, attributes: labelsIn(link.attributes) })),
    status: { ...span.status, message: span.name.includes("tool") ? "" : span.status.message },
  };
}

/** Selects numbers, booleans and the texts that name something. */
export function labelsIn(attributes: Attributes): Attributes {
  return new Map(
    [...attributes].filter(
      ([key, value]) => isPlain(value) && (typeof value !== "string" || LABEL.test(key)),
    ),
  );
}
