import type { Engine } from "../store/engine.ts";
import type { ContentWriter } from "./content-writer.ts";

export interface ContentDeps {
  readonly engine: Engine;
  readonly writer: ContentWriter;
  readonly bodyLimitBytes: number;
}
