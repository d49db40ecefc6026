import type { App } from "../../src/app.ts";
import { authorization } from "./start-app.ts";

/** Counts the 503 responses of the service since its start. */
export async function count503(app: App): Promise<number> {
  const { payload } = await app.inject({ url: "/metrics", headers: { authorization: authorization() } });
  const counts = payload.matchAll(/^sumtree_http_request_duration_seconds_count\{.*status="503"\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
