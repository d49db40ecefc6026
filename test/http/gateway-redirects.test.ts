import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import {
  bearer,
  startGateway,
  startSecondApp,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

const RUNS = runs(4, 60);
const { seed } = seededRandom();

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());

const BODY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] });
const CHAT = "/chat/completions";
let projects = 0;

/** How the upstream writes where it redirects to, and which path that is. */
const locations = fc.record({
  form: fc.constantFrom("https", "http", "https on another port", "relative"),
  path: fc.constantFrom(CHAT, `${CHAT}/`, "/elsewhere"),
  status: fc.constantFrom(301, 302, 303, 307, 308),
});

function locationOf(form: string, path: string): string {
  const { host, hostname, pathname } = new URL(test.upstream.url);
  if (form === "relative") return pathname + path;
  if (form === "https on another port") return `https://${hostname}:8443${pathname}${path}`;
  return `${form}://${host}${pathname}${path}`;
}

/** The usage of the calls of a project, once there are so many. */
async function usagesOf(project_id: string, count: number): Promise<unknown[]> {
  const read = async (): Promise<unknown[]> => {
    const { call_usage } = (await test.post("/trace/usage", { project_id })).json() as { call_usage: object };
    return Object.values(call_usage) as unknown[];
  };
  await until(async () => (await read()).length >= count);
  return read();
}

describe(`an upstream that redirects without end (seed ${seed})`, () => {
  it("is followed at most twice, then reported", async () => {
    const property = fc.asyncProperty(locations, async ({ form, path, status }) => {
      const app = await startSecondApp(test, {});
      test.upstream.forget();
      const location = locationOf(form, path);
      test.upstream.fail({ kind: "answer", status, body: "<html>moved</html>", headers: { location } }, 40);
      const project = `acme/redirects-${projects++}`;
      let url = `${app.url}/v1${CHAT}`;
      let method = "POST";
      let response: Response;
      let hops = 0;
      for (;;) {
        const headers = { ...bearer, "openai-project": project };
        response = await fetch(url, {
          method,
          headers,
          redirect: "manual",
          body: method === "POST" ? BODY : null,
        });
        const next = new URL(response.headers.get("location") ?? "about:blank", url);
        if (!next.href.startsWith(app.url) || response.status >= 400) break;
        expect(++hops).toBeLessThan(4);
        if (![307, 308].includes(response.status)) method = "GET";
        url = next.href;
      }
      await app.close();

      const comesBack = [307, 308].includes(status) && form !== "https on another port";
      const isEndless =
        path === CHAT ? comesBack || form.startsWith("https") : path === `${CHAT}/` && comesBack;
      if (isEndless) {
        expect(response.status).toBe(502);
        expect(response.headers.get("x-should-retry")).toBe("false");
        const text = await response.text();
        expect(text).toContain("upstream_invalid");
        expect(text).toContain("TRAINING_UPSTREAM_URL");
        if (form.startsWith("https")) expect(text).toContain(locationOf(form, ""));
      }
      const posts = test.upstream.seen.filter((one) => one.method === "POST");
      expect(posts.filter((one) => one.url.includes(CHAT)).length).toBeLessThanOrEqual(2);
      const usages = await usagesOf(project, posts.length);
      expect(usages).toEqual(posts.map(() => ({})));
    });
    await fc.assert(property, { seed, numRuns: RUNS });
  });
});

describe("an upstream's URL", () => {
  let app: SecondApp;
  beforeAll(async () => {
    test.upstream.forget();
    const url = new URL(test.upstream.url);
    url.search = "?api-version=2024-10-21&code=a%2Fb";
    url.username = "oper:ator";
    url.password = "pässword";
    app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: url.href, TRAINING_UPSTREAM_API_KEY: "" });
  });
  afterAll(() => app.close());

  it("keeps its query in addition to the client's, and sends its user and password as Basic credentials", async () => {
    const post = (path: string): Promise<Response> => {
      const headers = { authorization: `Bearer ${ROOT_KEY}` };
      return fetch(`${app.url}/v1${path}`, { method: "POST", headers, body: BODY });
    };
    for (const path of [CHAT, `${CHAT}?a=1&api-version=7`, "/files", "/files?b"]) await post(path);
    const seen = test.upstream.seen.slice(-4);
    expect(seen.map((one) => one.url)).toEqual([
      "/v1/chat/completions?api-version=2024-10-21&code=a%2Fb",
      "/v1/chat/completions?a=1&api-version=7&code=a%2Fb",
      "/v1/files?api-version=2024-10-21&code=a%2Fb",
      "/v1/files?b&api-version=2024-10-21&code=a%2Fb",
    ]);
    const credentials = `Basic ${Buffer.from("oper:ator:pässword").toString("base64")}`;
    expect(new Set(seen.map((one) => one.headers["authorization"]))).toEqual(new Set([credentials]));
  });
});
