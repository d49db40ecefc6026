import { artifactOf, modelNames } from "../list/model-names.ts";

/** The marks of training services, and the one that says no more than a name without a mark. */
const checkpoint = /:(?:step\d+|ckpt-step-\d+|latest)$/;

/**
 * The names under which a project may have set a price for an LLM id, best first. A model's price is that of its
 * checkpoints: the versions of an artifact, whatever they are called, and what bears the mark of one. Any other tag after
 * a name is another model, or another way to serve it.
 */
export function projectPriceNames(llmId: string): ReadonlySet<string> {
  const artifact = artifactOf(llmId);
  if (artifact === undefined) {
    const names = modelNames(llmId).map(({ id }) => id);
    return new Set([...names, ...names.map((name) => name.replace(checkpoint, ""))]);
  }
  const { uris, version } = artifact;
  const names = [llmId, ...uris];
  return new Set([...names, ...names.map((name) => name.slice(0, name.length - version.length))]);
}
