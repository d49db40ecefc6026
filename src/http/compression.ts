import { constants } from "node:zlib";

/** How responses are compressed: fast rather than small, and each piece of a stream as soon as it is there. */
export const compression = {
  encodings: ["br", "gzip", "deflate", "identity"] as ("br" | "gzip" | "deflate" | "identity")[],
  brotliOptions: {
    params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    flush: constants.BROTLI_OPERATION_FLUSH,
  },
  zlibOptions: { level: 1, flush: constants.Z_SYNC_FLUSH },
  // those that the plugin compresses, and lines of JSON
  customTypes: /^text\/(?!event-stream)|[+/](?:json|x-ndjson|text|xml)(?:;|$)|octet-stream(?:;|$)/u,
};
