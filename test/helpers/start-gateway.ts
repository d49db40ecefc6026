import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { pino } from "pino";
import { buildApp, type Deps } from "../../src/app.ts";
import {
  startReferenceUpstream,
  type ReferenceUpstream,
  type ReferenceUpstreamOptions,
} from "./reference-upstream/server.ts";
import { head, sendRaw, type RawExchange } from "./raw-http.ts";
import { callsOf, nothingPending, type RecordedCall } from "./recorded-calls.ts";
import { ROOT_KEY, startApp, type StartOptions, type TestApp } from "./start-app.ts";
import { testConfig } from "./test-config.ts";
import { until } from "./until.ts";

export const UPSTREAM_KEY = "upstream-key-of-the-operator";

export interface TestGateway extends TestApp {
  readonly upstream: ReferenceUpstream;
  /** Base URL of the gateway, which ends in `/v1`. */
  readonly baseUrl: string;
  readonly port: number;
}

/** The service as shipped, apart from the paths that pass, listening, in front of a reference upstream. */
export async function startGateway(
  options: StartOptions & { readonly upstream?: ReferenceUpstreamOptions } = {},
): Promise<TestGateway> {
  const upstream = await startReferenceUpstream({ apiKey: UPSTREAM_KEY, ...options.upstream });
  const test = await startApp({
    ...options,
    settings: {
      TRAINING_UPSTREAM_URL: upstream.url,
      TRAINING_UPSTREAM_API_KEY: UPSTREAM_KEY,
      GATEWAY_PASSTHROUGH_PATHS: "/",
      SHUTDOWN_TIMEOUT_MS: "3000",
      ...options.settings,
    },
  });
  await test.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = test.app.server.address() as AddressInfo;
  return {
    ...test,
    upstream,
    port,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async close() {
      await test.close();
      await upstream.close();
    },
  };
}

export interface SecondApp extends Pick<TestApp, "app"> {
  readonly url: string;
  readonly port: number;
  /** How many clients are connected. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/** A second app with settings of its own. The engine is one per process: it shares the first one's. */
export async function startSecondApp(
  first: TestGateway,
  settings: Readonly<Record<string, string>>,
  {
    logger = pino({ level: "silent" }),
    engine = first.engine,
  }: Partial<Pick<Deps, "logger" | "engine">> = {},
): Promise<SecondApp> {
  const config = testConfig({
    TRAINING_UPSTREAM_URL: first.upstream.url,
    TRAINING_UPSTREAM_API_KEY: UPSTREAM_KEY,
    GATEWAY_PASSTHROUGH_PATHS: "/",
    ...settings,
  });
  const app = await buildApp(config, { engine, rootKey: ROOT_KEY, logger });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const connections = promisify(app.server.getConnections.bind(app.server));
  return { app, url, port: Number(new URL(url).port), connections, close: () => app.close() };
}

export const bearer = { authorization: `Bearer ${ROOT_KEY}` };

/** Sends a request over a bare socket, with the root key and the length of its body unless `lines` of its head say otherwise. */
export function sendTo(
  { port }: { readonly port: number },
  line: string,
  lines: readonly string[] = [],
  body: string | Uint8Array = "",
): RawExchange {
  const has = (...names: readonly string[]): boolean =>
    lines.some((one) => names.includes(one.split(":", 1)[0]!));
  const all = [`${line} HTTP/1.1`, "host: g", ...lines];
  if (!has("authorization")) all.push(`authorization: ${bearer.authorization}`);
  if (!has("content-length", "transfer-encoding") && body.length > 0)
    all.push(`content-length: ${Buffer.byteLength(body)}`);
  return sendRaw(port, Buffer.from(head(...all), "latin1"), body);
}

/** Returns the only call of a project, once it is as asked for. */
export async function recordedCall(
  test: Pick<TestApp, "post" | "app">,
  project_id: string,
  isSo: (call: RecordedCall) => boolean = () => true,
): Promise<RecordedCall> {
  await nothingPending(test);
  await until(async () => (await callsOf(test, project_id)).some(isSo));
  const [call, ...others] = await callsOf(test, project_id);
  if (others.length > 0) throw new Error(`${others.length + 1} calls in ${project_id}`);
  return call!;
}
