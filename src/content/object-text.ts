import type { Engine } from "../store/engine.ts";
import { readInPages } from "../store/rows/read-in-pages.ts";
import { RowBinaryReader } from "../store/rows/row-binary.ts";
import { param, sql } from "../query/sql.ts";
import { toIso } from "../shared/instant.ts";
import { pairKey } from "../shared/pair-key.ts";
import type { Project } from "../shared/project.ts";
import type { ObjectVersion } from "./object-versions.ts";

export interface TextOptions {
  readonly engine: Engine;
  readonly project: Project;
  readonly signal: AbortSignal;
  /** False: returns an empty object instead of each value. */
  readonly withValues: boolean;
}

/** Reads the value of a version as stored; `undefined` if it no longer exists. */
export async function valueText(
  engine: Engine,
  project: Project,
  { object_id, digest }: Pick<ObjectVersion, "object_id" | "digest">,
): Promise<string | undefined> {
  const [row] = await engine.rows<{ val: string }>(
    sql`SELECT val FROM objects FINAL PREWHERE project_id = ${param("String", project)}
        AND object_id = ${param("String", object_id)} AND digest = ${param("String", digest)}`,
    { name: "object_read" },
  );
  return row?.val;
}

/** Returns `{"obj":…}`; `undefined` if the version no longer exists. */
export async function objectText(
  engine: Engine,
  project: Project,
  { version, withValue }: { readonly version: ObjectVersion; readonly withValue: boolean },
): Promise<string | undefined> {
  const val = withValue ? await valueText(engine, project, version) : "{}";
  return val && `{"obj":${textOf(project, version, val)}}`;
}

/** Yields `{"objs":[…]}` chunk by chunk, values as stored. Errors: `StorageError`. */
export async function* objectListText(
  versions: readonly ObjectVersion[],
  options: TextOptions,
): AsyncGenerator<Buffer> {
  let separator = '{"objs":[';
  for await (const texts of textsOf(versions, options)) {
    if (texts.length === 0) continue;
    yield Buffer.from(separator + texts.join(","));
    separator = ",";
  }
  yield Buffer.from(separator === "," ? "]}" : `${separator}]}`);
}

async function* textsOf(
  versions: readonly ObjectVersion[],
  { withValues, ...reading }: TextOptions,
): AsyncGenerator<readonly string[]> {
  const { project } = reading;
  if (!withValues) {
    yield versions.map((version) => textOf(project, version, "{}"));
    return;
  }
  for await (const { keys, values } of valuePages(versions, reading)) {
    yield keys.flatMap((version) => {
      const val = values.get(pairKey(version.object_id, version.digest));
      return val === undefined ? [] : [textOf(project, version, val)];
    });
  }
}

/** Yields values as stored, by `pairKey` of object and digest, page by page. Errors: `StorageError`. */
export async function* valuePages<Version extends Pick<ObjectVersion, "object_id" | "digest">>(
  versions: readonly Version[],
  { engine, project, signal }: Omit<TextOptions, "withValues">,
) {
  const pages = readInPages(versions.values(), {
    engine,
    name: "objects_read",
    signal,
    statement: (page) => {
      const ids = param(
        "Array(String)",
        page.map(({ object_id }) => object_id),
      );
      const digests = param(
        "Array(String)",
        page.map(({ digest }) => digest),
      );
      return sql`SELECT object_id, digest, val FROM objects FINAL
        PREWHERE project_id = ${param("String", project)} AND object_id IN ${ids} AND (object_id, digest) IN
          (SELECT version.1, version.2 FROM (SELECT arrayJoin(arrayZip(${ids}, ${digests})) AS version))`;
    },
  });
  for await (const { keys, bytes } of pages) yield { keys, values: readValues(bytes) };
}

function readValues(bytes: Buffer): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) values.set(pairKey(reader.string(), reader.string()), reader.string());
  return values;
}

function textOf(project: Project, version: ObjectVersion, val: string): string {
  const metadata = JSON.stringify({
    project_id: project,
    object_id: version.object_id,
    digest: version.digest,
    kind: version.kind,
    base_object_class: version.base_object_class === "" ? null : version.base_object_class,
    created_at: toIso(version.created_at),
    deleted_at: null,
    version_index: version.version_index,
    is_latest: version.version_index + 1 === version.version_count ? 1 : 0,
  });
  return `${metadata.slice(0, -1)},"val":${val}}`;
}
