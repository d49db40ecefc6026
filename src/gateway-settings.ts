import type { Config } from "./config.ts";
import type { GatewayRoutesSettings } from "./gateway/routes.ts";
import type { FairSemaphore } from "./fairness/fair-semaphore.ts";
import { shutdownDeadlines } from "./shutdown-deadlines.ts";

/** Maps the configuration to gateway settings. `open`: limiter of open requests. */
export function gatewayRoutesSettings(config: Config, open: FairSemaphore): GatewayRoutesSettings {
  return {
    training: {
      url: config.TRAINING_UPSTREAM_URL,
      apiKey: config.TRAINING_UPSTREAM_API_KEY,
    },
    chat: {
      url: config.CHAT_UPSTREAM_URL,
      apiKey: config.CHAT_UPSTREAM_API_KEY,
    },
    anthropic: {
      url: config.ANTHROPIC_UPSTREAM_URL,
      apiKey: config.ANTHROPIC_UPSTREAM_API_KEY,
    },
    gemini: {
      url: config.GEMINI_UPSTREAM_URL,
      apiKey: config.GEMINI_UPSTREAM_API_KEY,
    },
    routes: config.gatewayRoutes,
    open,
    connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS,
    headersTimeoutMs: config.UPSTREAM_FIRST_BYTE_TIMEOUT_MS,
    bodyTimeoutMs: config.UPSTREAM_IDLE_TIMEOUT_MS,
    // below the 5 s after which Node servers close an idle connection
    keepAliveMs: 4000,
    chatBodyLimitBytes: config.CHAT_BODY_LIMIT_BYTES,
    trainingBodyLimitBytes: config.TRAINING_BODY_LIMIT_BYTES,
    typedBodyLimitBytes: config.BODY_LIMIT_BYTES,
    stallMs: config.GATEWAY_STALL_TIMEOUT_MS,
    sseKeepAliveMs: config.SSE_KEEP_ALIVE_MS,
    passThrough: config.GATEWAY_PASSTHROUGH_PATHS,
    captureContent: config.GATEWAY_CAPTURE_CONTENT,
    ...shutdownDeadlines(config),
    maxPendingCalls: config.RECORDER_MAX_PENDING_CALLS,
    maxPendingBytes: config.RECORDER_MAX_PENDING_BYTES,
  };
}
