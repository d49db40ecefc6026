import { constants } from "node:zlib";

/** How responses are compressed: fast rather than small. */
export const compression = {
  encodings: ["br", "gzip", "deflate", "identity"] as ("br" | "gzip" | "deflate" | "identity")[],
  brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
  zlibOptions: { level: 1 },
};
