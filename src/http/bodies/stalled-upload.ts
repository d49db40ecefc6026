import type { FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";

/** An upload must deliver this much in each `stallMs`, or end. */
const MIN_UPLOAD_BYTES = 65_536;

/** Reports a client that sends almost nothing of its body. Returns how to stop watching. */
export function watchUpload(
  { raw, log }: FastifyRequest,
  stallMs: number,
  onStall: (error: AppError) => void,
): () => void {
  let seenBytes = raw.socket.bytesRead;
  const timer = setTimeout(() => {
    if (raw.complete) return;
    const { bytesRead } = raw.socket;
    if (bytesRead - seenBytes < MIN_UPLOAD_BYTES) {
      log.warn("the client does not send its body");
      onStall(stalled(stallMs));
      return;
    }
    seenBytes = bytesRead;
    timer.refresh();
  }, stallMs).unref();
  return () => clearTimeout(timer);
}

function stalled(stallMs: number): AppError {
  return new AppError(
    "client_stalled",
    `The body must come at ${MIN_UPLOAD_BYTES} bytes in ${stallMs} ms or faster (CLIENT_STALL_TIMEOUT_MS).`,
  );
}
