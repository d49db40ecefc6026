import type { FastifyReply, FastifyRequest } from "fastify";
import { isProjectId } from "../http/auth/grant.ts";
import { headerText } from "../http/header-text.ts";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import { mayStream, readChatRequest, unreadChatRequest, type ChatRequest } from "./recording/chat-request.ts";
import { CompletionRecording } from "./recording/completion-recording.ts";
import type { Gateway, Target } from "./gateway.ts";
import { isIdentity } from "./relay/headers.ts";
import type { Recorder } from "./recording/recorder.ts";
import type { RelayMeter } from "./relay/relay.ts";
import { headersFor } from "./request-relay.ts";
import { readTraceContext } from "./recording/trace-context.ts";
import type { TellUnrecorded, UnrecordedReason } from "./recording/unrecorded.ts";
import {
  bodyToSend,
  checkDeclaredLength,
  contentLengthOf,
  hasBody,
  readBody,
  startUpload,
  type UploadOptions,
} from "./relay/upload.ts";
import type { UpstreamRequest } from "./relay/upstream.ts";
import { targetUnder, withQueryOf } from "./relay/upstream-path.ts";

export interface ChatOptions {
  readonly gateway: Gateway;
  readonly meter: RelayMeter;
  readonly recorder: Recorder;
  readonly tellUnrecorded: TellUnrecorded;
  readonly clock: Clock;
  readonly settings: {
    readonly chatBodyLimitBytes: number;
    readonly uploadIdleMs: number;
    readonly stallMs: number;
    readonly sseKeepAliveMs: number;
    readonly askForUsage: boolean;
    readonly keepContent: boolean;
  };
}

/** Servers that know only one of the two redirect to it. A client that follows the redirect would come back forever. */
const CHAT_PATHS: ReadonlySet<string> = new Set(["/chat/completions", "/chat/completions/"]);
/** Longer chat requests are relayed unread: their completions are recorded, but without asking for usage. */
const MAX_READ_BYTES = 4 * 1024 * 1024;

/** Relays a chat completion, and records it when the request names a project. `path`: other than the upstream's own. */
export async function relayChat(
  request: FastifyRequest,
  reply: FastifyReply,
  { path, ...options }: ChatOptions & { readonly path?: string },
): Promise<void> {
  const { gateway, settings } = options;
  const target = gateway.chat();
  if (!gateway.enter(request, reply)) return;
  checkDeclaredLength(request.raw, settings.chatBodyLimitBytes);
  const named = projectOf(request);
  const recording = named.project && recordingOf(request, named.project, target, options);
  if (recording !== undefined) void reply.header("x-sumtree-call-id", recording.callId);
  if (named.project === undefined) options.tellUnrecorded(request, reply, named.reason);

  const limits = { limitBytes: settings.chatBodyLimitBytes, idleMs: settings.uploadIdleMs };
  const { body, readChat, hideUsage }: ChatBody =
    recording === undefined
      ? { body: await bodyToSend(request.raw, limits), readChat: undefined, hideUsage: false }
      : await readOrUpload(request, { askForUsage: settings.askForUsage, limits });
  if (readChat !== undefined) recording?.asked(readChat);
  await gateway.relay(request, reply, {
    route: "POST /chat/completions",
    meter: options.meter,
    target,
    upstreamRequest: {
      method: "POST",
      path: targetUnder(target.upstream.base, path ?? withQueryOf(request.url, target.chatPath)),
      headers: headersFor(request, target, { body, identity: true }),
      body,
    },
    reads: "chat",
    repeatable: true,
    hideUsage,
    keepAliveMs: settings.sseKeepAliveMs,
    stallMs: settings.stallMs,
    onRedirect: (leadsTo) => {
      if (path === undefined && CHAT_PATHS.has(leadsTo)) target.chatPath = leadsTo;
    },
    observer: recording,
  });
}

/** The project to record in, or why there is none. Errors: forbidden, if the key may not use it. */
function projectOf(
  request: FastifyRequest,
): { readonly project: Project } | { readonly project: undefined; readonly reason: UnrecordedReason } {
  const named = request.headers["x-sumtree-project"] ?? request.headers["openai-project"];
  const name = typeof named === "string" ? headerText(named) : "";
  if (name === "") return { project: undefined, reason: "no_project" };
  // the SDKs send OpenAI's own project ids in the same header
  if (!isProjectId(name)) return { project: undefined, reason: "not_a_project" };
  return { project: request.grant.project(name) };
}

function recordingOf(
  request: FastifyRequest,
  project: Project,
  target: Target,
  { recorder, clock, settings }: ChatOptions,
): CompletionRecording {
  return new CompletionRecording({
    project,
    trace: readTraceContext(request.headers),
    apiKey: request.grant.keyId,
    requestId: request.id,
    upstream: target.name,
    provider: target.provider,
    recorder,
    clock,
    keepContent: settings.keepContent,
  });
}

interface ChatBody {
  readonly body: UpstreamRequest["body"];
  /** Parses the body, which only the recording needs. */
  readonly readChat: (() => ChatRequest) | undefined;
  /** We added the request for usage; the client did not ask. */
  readonly hideUsage: boolean;
}

/** Reads the body if it is uncompressed and short enough, else relays it unread. */
async function readOrUpload(
  request: FastifyRequest,
  { limits, askForUsage }: { limits: UploadOptions; askForUsage: boolean },
): Promise<ChatBody> {
  const declared = contentLengthOf(request.raw);
  const unread = (): ChatRequest => unreadChatRequest(declared ?? 0);
  const readable = hasBody(request.raw) && isIdentity(request.headers["content-encoding"]);
  if (!readable || (declared ?? 0) > MAX_READ_BYTES) {
    return { body: await bodyToSend(request.raw, limits), readChat: unread, hideUsage: false };
  }

  const read = await readBody(request.raw, MAX_READ_BYTES, limits.idleMs);
  if (!read.complete) {
    return {
      body: startUpload(request.raw, { ...limits, prefix: read.prefix }),
      readChat: unread,
      hideUsage: false,
    };
  }
  const chat = askForUsage && mayStream(read.bytes) ? readChatRequest(read.bytes) : undefined;
  return {
    body: chat?.asking ?? read.bytes,
    readChat: () => chat ?? readChatRequest(read.bytes),
    hideUsage: chat?.asking !== undefined,
  };
}
