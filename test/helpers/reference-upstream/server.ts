import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { chunksOf, completionOf, type ChatBody } from "./chat.ts";
import { playFault, writeEvents, type Fault } from "./faults.ts";
import { answerOf, type Json } from "./models.ts";
import { ReferenceTraining, type TrainingResponse } from "./training.ts";

/*
 * Test support, not part of the product: a training and chat service that behaves as the real ones are documented
 * to, for tests, benchmarks and the demo. It trains nothing and knows no model.
 */

/** One request as it arrived. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The first `keepBytes` of the body. */
  readonly body: Buffer;
  readonly bodyBytes: number;
  readonly bodySha256: string;
  /** Resolves when the connection or the answer is over: true when the other side left before it was complete. */
  readonly left: Promise<boolean>;
}

export interface ReferenceUpstreamOptions {
  readonly port?: number;
  /** The key that requests must bring. */
  readonly apiKey?: string;
  readonly basePath?: string;
  /** Time between two events of a training job. */
  readonly stepMs?: number;
  /** Whether a stream tells its usage unasked, as the training service does; OpenAI does not. */
  readonly usageByDefault?: boolean;
  readonly keepBytes?: number;
  /** Models and jobs of an upstream before it, which was stopped. */
  readonly training?: ReferenceTraining;
}

export interface ReferenceUpstream {
  /** With its path, for `TRAINING_UPSTREAM_URL`. */
  readonly url: string;
  /** Its models and jobs. */
  readonly training: ReferenceTraining;
  /** Every request whose head has arrived, in order. */
  readonly seen: readonly SeenRequest[];
  /** Requests without a complete response. */
  open(): number;
  connections(): number;
  /** The next `times` requests suffer this. */
  fail(fault: Fault, times?: number): void;
  forget(): void;
  /** Resets all connections. */
  dropConnections(): void;
  close(): Promise<void>;
}

const PUBLIC = new Set(["/health", "/system-check", "/preview/base-models"]);

export async function startReferenceUpstream(
  options: ReferenceUpstreamOptions = {},
): Promise<ReferenceUpstream> {
  const { apiKey, basePath = "/v1", usageByDefault = true, keepBytes = 8 * 1024 * 1024 } = options;
  const { training = new ReferenceTraining(options.stepMs ?? 0) } = options;
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let faults: Fault[] = [];
  let open = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await receive(request, response, { seen, keepBytes });
    const url = new URL(request.url ?? "/", "http://upstream");
    const path = url.pathname.startsWith(basePath) ? url.pathname.slice(basePath.length) : undefined;
    if (request.method === "POST" && path === "/_reference/faults") {
      faults.push(JSON.parse(body.toString("utf8")) as Fault);
      return send(response, { status: 200, body: { queued: faults.length } });
    }
    const fault = faults.shift();
    if (fault?.kind === "forget_jobs") training.forgetJobs();
    if (await playFault(fault, response)) return undefined;
    if (path === undefined) return send(response, { status: 404, body: { detail: "Not Found" } });
    if (apiKey !== undefined && !PUBLIC.has(path) && request.headers.authorization !== `Bearer ${apiKey}`) {
      return send(response, { status: 401, body: { detail: "Authentication failed" } });
    }
    if (request.method === "POST" && /^\/chat\/completions\/?$/.test(path)) {
      return chat(parse(body) as ChatBody, response, { fault, usageByDefault });
    }
    const played = request.method === "POST" ? answerOf(path, parse(body) as Json) : undefined;
    if (played !== undefined) {
      response.writeHead(200, { "content-type": played.type });
      response.end(played.pieces.join(""));
      return undefined;
    }
    return send(response, route(training, request.method ?? "", path, { query: url.searchParams, body }));
  };

  const server = createServer((request, response) => {
    open++;
    response.once("close", () => open--);
    // a body of another shape than the one it is read as
    const rejected = { status: 422, body: { detail: "The request does not validate." } };
    answer(request, response).catch(() =>
      response.headersSent ? response.destroy() : send(response, rejected),
    );
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", 4096, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    training,
    seen,
    open: () => open,
    connections: () => sockets.size,
    fail: (fault, times = 1) => {
      for (let at = 0; at < times; at++) faults.push(fault);
    },
    forget: () => {
      seen.length = 0;
      faults = [];
    },
    dropConnections: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { seen, keepBytes }: { seen: SeenRequest[]; keepBytes: number },
): Promise<Buffer> {
  const hash = createHash("sha256");
  const kept: Buffer[] = [];
  let bytes = 0;
  const one = {
    method: request.method ?? "",
    url: request.url ?? "",
    headers: { ...request.headers },
    body: Buffer.alloc(0),
    bodyBytes: 0,
    bodySha256: "",
    left: new Promise<boolean>((resolve) => {
      response.once("close", () => resolve(!response.writableFinished));
    }),
  };
  seen.push(one);
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      hash.update(chunk);
      if (bytes < keepBytes) kept.push(chunk);
      bytes += chunk.length;
    }
  } finally {
    one.bodyBytes = bytes;
  }
  one.body = Buffer.concat(kept);
  one.bodySha256 = hash.digest("hex");
  return one.body;
}

function chat(
  body: ChatBody,
  response: ServerResponse,
  { fault, usageByDefault }: { fault: Fault | undefined; usageByDefault: boolean },
): Promise<void> | undefined {
  if (!Array.isArray(body.messages)) {
    const detail = [{ loc: ["body", "messages"], msg: "Field required", type: "missing" }];
    send(response, { status: 422, body: { detail } });
    return undefined;
  }
  const delayMs = body.vllm_xargs?.delay_ms ?? 0;
  if (body.stream !== true) {
    const began = performance.now();
    const answer = (): void => {
      const headers = { "openai-processing-ms": (performance.now() - began).toFixed(3) };
      send(response, { status: 200, body: completionOf(body), headers });
    };
    if (delayMs === 0) answer();
    else setTimeout(answer, delayMs * (body.max_tokens ?? 1));
    return undefined;
  }
  const events = chunksOf(body, { usageByDefault }).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  return writeEvents(response, [...events, "data: [DONE]\n\n"], { fault, delayMs });
}

function route(
  training: ReferenceTraining,
  method: string,
  path: string,
  { query, body }: { query: URLSearchParams; body: Buffer },
): TrainingResponse {
  const [, first, second, id = "", third] = path.split("/");
  const json = parse(body) as Record<string, unknown>;
  const key = `${method} /${first}${second === undefined ? "" : `/${second}`}${id === "" ? "" : "/:id"}${third === undefined ? "" : `/${third}`}`;
  switch (key) {
    case "GET /health":
      return { status: 200, body: { status: "healthy" } };
    case "GET /system-check":
      return {
        status: 200,
        body: { api: true, database: true, cpu_queue: queue(0.1), gpu_queue: queue(0.2) },
      };
    case "GET /preview/base-models":
      return { status: 200, body: ["OpenPipe/Qwen3-14B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"] };
    case "POST /preview/models":
      return training.createModel(json);
    case "DELETE /preview/models/:id":
      return training.deleteModel(id);
    case "GET /preview/models/:id/checkpoints":
      return training.listCheckpoints(id, query);
    case "DELETE /preview/models/:id/checkpoints":
      return training.deleteCheckpoints(id, json);
    case "POST /preview/models/:id/log":
      return { status: 200, body: null };
    case "POST /preview/training-jobs":
      return training.createJob(String(json["model_id"]), groupsOf(json), checkpointEvery(json));
    case "POST /preview/sft-training-jobs":
      return training.createJob(String(json["model_id"]), 4, checkpointEvery(json));
    case "GET /preview/training-jobs/:id":
      return training.job(id);
    case "GET /preview/training-jobs/:id/events":
      return training.listEvents(id, query);
    default:
      return echo(method, path, body);
  }
}

/** Echoes requests to unknown paths. */
function echo(method: string, path: string, body: Buffer): TrainingResponse {
  return { status: 200, body: { method, path, body_base64: body.toString("base64") } };
}

function groupsOf(json: Record<string, unknown>): number {
  return Array.isArray(json["trajectory_groups"]) ? json["trajectory_groups"].length : 3;
}

function checkpointEvery({ experimental_config: config }: Record<string, unknown>): unknown {
  return (config as Json | null | undefined)?.["checkpoint_every"];
}

function queue(duration: number): object {
  return { success: true, duration, error: null };
}

function parse(body: Buffer): unknown {
  try {
    return (JSON.parse(body.toString("utf8")) as unknown) ?? {};
  } catch {
    return {};
  }
}

function send(response: ServerResponse, { status, body, headers }: TrainingResponse): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    "set-cookie": "upstream=secret",
    ...headers,
  });
  response.end(text);
}
