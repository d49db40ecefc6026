import type { App } from "../../src/app.ts";
import { describedRoutes, problemOf, responseAt, type DescribedRoute } from "./openapi-document.ts";

const byRoute = new Map(describedRoutes.map((described) => [described.route, described]));

/** Holds every response that is not streamed against `openapi.json`; the set gets what differs. */
export function watchResponses(app: App): ReadonlySet<string> {
  const problems = new Set<string>();
  app.addHook("onSend", async (request, reply, payload) => {
    const path = request.routeOptions.url?.replaceAll(/:(\w+)/g, "{$1}");
    const described = byRoute.get(`${request.method} ${path}`);
    // of what was compressed ahead, the plain form is held against it
    if (described === undefined || reply.hasHeader("content-encoding")) return payload;
    const problem = problemOfResponse(described, {
      status: reply.statusCode,
      type: String(reply.getHeader("content-type") ?? "").split(";", 1)[0]!,
      payload,
    });
    if (problem !== undefined) problems.add(`${described.route} ${reply.statusCode}: ${problem}`);
    return payload;
  });
  return problems;
}

/** Without one: the client has left before there was a response. */
const CLIENT_LEFT = 499;
/** Part of HTTP, like the headers that ask for it. */
const NOT_MODIFIED = 304;
const UNDESCRIBED = new Set([CLIENT_LEFT, NOT_MODIFIED]);

interface Sent {
  readonly status: number;
  readonly type: string;
  readonly payload: unknown;
}

export function problemOfResponse(
  route: DescribedRoute,
  { status, type, payload }: Sent,
): string | undefined {
  if (UNDESCRIBED.has(status)) return undefined;
  const described = responseAt(route, status);
  if (described === undefined) return "there is no such status";
  const { place, response } = described;
  const hasBody = payload !== undefined && payload !== null && payload !== "";
  if (response.content === undefined) return hasBody ? "there is no body" : undefined;
  if (!Object.hasOwn(response.content, type)) return `there is no ${type}`;
  const text = Buffer.isBuffer(payload) ? payload.toString("utf8") : payload;
  if (typeof text !== "string" || !type.endsWith("json")) return undefined;
  const documents = type === "application/x-ndjson" ? text.trimEnd().split("\n") : [text];
  return documents
    .filter((line) => line !== "")
    .map((line) => problemOf(JSON.parse(line), ...place, "content", type, "schema"))
    .find((problem) => problem !== undefined);
}
