import type { FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";

/** Minimum bytes of an upload per `stallMs`. */
const MIN_UPLOAD_BYTES = 65_536;

/** Calls back if an upload is slower than the minimum. Returns a function that stops watching. */
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
  return new AppError("client_stalled", `Upload slower than ${MIN_UPLOAD_BYTES} bytes in ${stallMs} ms.`);
}
