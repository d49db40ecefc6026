import { isUniqueId, storedId } from "../../../calls/events/completion.ts";
import {
  CONVERSATION_RANKS,
  REPORT_RANKS,
  type RequestReport,
} from "../../../calls/events/request-report.ts";
import type { Attributes } from "../attributes.ts";
import { sessionOf } from "./agent-attributes.ts";
import type { Agent } from "./agent.ts";

/** The requests that a span or record with usage reports; `undefined` for none. `traceId`: '' if it has none. */
export function reportsOf(
  agent: Agent | undefined,
  sent: { readonly attributes: Attributes; readonly completionId: string; readonly traceId: string },
  source: "log" | "span",
): readonly RequestReport[] | undefined {
  const idsIn = (names: readonly string[]): readonly string[] =>
    names.map((name) => storedId(sent.attributes.get(name)));
  const known = agent?.requests ?? [];
  const requests = [
    ...(known === "session" ? [] : idsIn(known)),
    isUniqueId(sent.completionId) ? sent.completionId : "",
  ];
  // Codex names the conversation on the span of a turn, but not on those of its responses: they share the trace
  const conversations =
    known === "session" ? [storedId(sessionOf(agent!, sent.attributes)), sent.traceId] : [];
  const ranked = [
    ...requests.map((request) => ({ request, rank: REPORT_RANKS[source] })),
    ...conversations.map((id) => ({
      request: id && `conversation:${id}`,
      rank: CONVERSATION_RANKS[source],
    })),
  ];
  const found = ranked.filter(
    ({ request }, index) => request !== "" && ranked.findIndex((one) => one.request === request) === index,
  );
  return found.length === 0 ? undefined : found;
}
