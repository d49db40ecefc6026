import type { Grant } from "../http/auth/grant.ts";
import type { Engine } from "../store/engine.ts";
import { pairKey } from "../shared/pair-key.ts";
import type { Project } from "../shared/project.ts";
import type { ContentRef } from "./content-ref.ts";
import { rowPages } from "./data-tables.ts";
import { valuePages } from "./object-text.ts";
import { findVersions, isAlias, type VersionName } from "./object-versions.ts";

interface Reading {
  readonly engine: Engine;
  readonly grant: Grant;
  readonly signal: AbortSignal;
}

/** A stored value, and the references whose paths begin in it. */
export interface SourceText<Item> {
  readonly text: string;
  readonly items: readonly Item[];
}

/** Yields the stored values in which references begin, each once. Omits references whose target does not exist. */
export async function* sourceTexts<Item extends { readonly ref: ContentRef }>(
  items: readonly Item[],
  { engine, grant, signal }: Reading,
): AsyncGenerator<SourceText<Item>> {
  for (const [projectId, projectItems] of Map.groupBy(items, ({ ref }) => ref.projectId)) {
    const options = { engine, project: grant.project(projectId), signal };
    yield* objectTexts(projectItems, options);
    yield* rowTexts(projectItems, options);
  }
}

interface ProjectReading {
  readonly engine: Engine;
  readonly project: Project;
  readonly signal: AbortSignal;
}

async function* objectTexts<Item extends { readonly ref: ContentRef }>(
  items: readonly Item[],
  options: ProjectReading,
): AsyncGenerator<SourceText<Item>> {
  const named = items.flatMap((item) => (item.ref.kind === "object" ? [{ item, ref: item.ref }] : []));
  if (named.length === 0) return;
  const digests = await digestsOf(
    named.map(({ ref }) => ref),
    options,
  );
  const byVersion = Map.groupBy(named, ({ ref }) => {
    const digest = isAlias(ref.version) ? digests.get(pairKey(ref.objectId, ref.version)) : ref.version;
    return digest === undefined ? "" : pairKey(ref.objectId, digest);
  });
  byVersion.delete("");
  const versions = [...byVersion].map(([key, [first]]) => ({
    key,
    object_id: first!.ref.objectId,
    digest: digests.get(pairKey(first!.ref.objectId, first!.ref.version)) ?? first!.ref.version,
  }));
  for await (const { keys, values } of valuePages(versions, options)) {
    for (const { key } of keys) {
      const text = values.get(key);
      if (text !== undefined) yield { text, items: byVersion.get(key)!.map(({ item }) => item) };
    }
  }
}

/** Resolves the versions that are named by aliases. */
async function digestsOf(
  names: readonly VersionName[],
  { engine, project }: ProjectReading,
): Promise<ReadonlyMap<string, string>> {
  const aliases = names.filter(({ version }) => isAlias(version));
  return aliases.length === 0 ? new Map() : findVersions(engine, project, aliases);
}

async function* rowTexts<Item extends { readonly ref: ContentRef }>(
  items: readonly Item[],
  { engine, project, signal }: ProjectReading,
): AsyncGenerator<SourceText<Item>> {
  const byRow = Map.groupBy(items, ({ ref }) => {
    const [row] = ref.kind === "table" ? ref.path : [];
    return row?.edge === "id" ? row.name : "";
  });
  byRow.delete("");
  if (byRow.size === 0) return;
  for await (const { keys, values } of rowPages(engine, project, { digests: [...byRow.keys()], signal })) {
    for (const digest of keys) {
      const text = values.get(digest);
      if (text !== undefined) yield { text, items: byRow.get(digest)! };
    }
  }
}
