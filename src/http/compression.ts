import { constants } from "node:zlib";

/** Compression of responses: fast rather than small, each chunk of a stream at once. */
export const compression = {
  encodings: ["br", "gzip", "deflate", "identity"] as ("br" | "gzip" | "deflate" | "identity")[],
  brotliOptions: {
    params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    flush: constants.BROTLI_OPERATION_FLUSH,
  },
  zlibOptions: { level: 1, flush: constants.Z_SYNC_FLUSH },
  // the plugin's own types and NDJSON
  customTypes: /^text\/(?!event-stream)|[+/](?:json|x-ndjson|text|xml)(?:;|$)|octet-stream(?:;|$)/u,
};
