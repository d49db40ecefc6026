import { join } from "node:path";

/** Environment of child processes. The shared compile cache halves the start. */
export const CHILD_ENVIRONMENT = {
  PATH: process.env["PATH"],
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../../node_modules/.cache/compiled"),
};
