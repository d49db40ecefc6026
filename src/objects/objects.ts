import type { Engine } from "../clickhouse/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import { toIso } from "../shared/instant.ts";
import { isJsonObject, stringifyJson } from "../shared/json.ts";
import type { Project } from "../shared/project.ts";
import type { ContentWriter } from "./content-writer.ts";
import { digestOf } from "./digest.ts";

export interface NewObject {
  readonly objectId: string;
  readonly val: unknown;
  /** Default: what the value says. */
  readonly baseClass: string | undefined;
}

/** Stores a version of an object; its digest. */
export async function saveObject(
  writer: ContentWriter,
  project: Project,
  object: NewObject,
): Promise<string> {
  const val = stringifyJson(object.val ?? null);
  const digest = digestOf(val);
  const columns = {
    project_id: project,
    object_id: object.objectId,
    digest,
    kind: isOp(object.val) ? "op" : "object",
    base_object_class: object.baseClass ?? baseClassOf(object.val) ?? "",
    val,
  };
  await writer.write([{ table: "objects", columns, bytes: val.length }]);
  return digest;
}

function isOp(val: unknown): boolean {
  if (!isJsonObject(val) || val["_type"] !== "CustomWeaveType") return false;
  const type = val["weave_type"];
  return isJsonObject(type) && type["type"] === "Op";
}

/** The class below `Object` and `BaseModel`, with which the list of bases ends. */
function baseClassOf(val: unknown): string | undefined {
  if (!isJsonObject(val) || !Array.isArray(val["_bases"])) return undefined;
  const bases = val["_bases"] as readonly unknown[];
  if (bases.at(-1) !== "BaseModel" || bases.at(-2) !== "Object") return undefined;
  const found = bases.length > 2 ? bases.at(-3) : val["_class_name"];
  return typeof found === "string" ? found : undefined;
}

interface VersionRow {
  readonly digest: string;
  readonly version_index: number;
  readonly version_count: number;
}

interface ObjectRow {
  readonly kind: string;
  readonly base_object_class: string;
  readonly created_at: string;
  readonly val: string;
}

/**
 * The JSON text of a version of an object: named by its digest, as `v0`, `v1`, …, or as `latest`; undefined when there
 * is none. The value stands in it as it was stored.
 */
export async function readObject(
  engine: Engine,
  project: Project,
  { objectId, version }: { readonly objectId: string; readonly version: string },
): Promise<string | undefined> {
  const ofObject = sql`project_id = ${param("String", project)} AND object_id = ${param("String", objectId)}`;
  const [found] = await engine.rows<VersionRow>(
    sql`SELECT digest, version_index, version_count FROM (
          SELECT digest, toUInt32(row_number() OVER (ORDER BY created_at, digest)) - 1 AS version_index,
            toUInt32(count() OVER ()) AS version_count
          FROM objects FINAL PREWHERE ${ofObject})
        WHERE ${isVersion(version)}`,
    { name: "object_version" },
  );
  if (found === undefined) return undefined;
  const [row] = await engine.rows<ObjectRow>(
    sql`SELECT kind, base_object_class, created_at, val FROM objects FINAL
        PREWHERE ${ofObject} AND digest = ${param("String", found.digest)}`,
    { name: "object_read" },
  );
  return row === undefined ? undefined : objectText({ project, objectId, ...found, ...row });
}

function isVersion(version: string): Sql {
  if (version === "latest") return sql`version_index + 1 = version_count`;
  const index = /^v(\d{1,9})$/.exec(version)?.[1];
  return index === undefined
    ? sql`digest = ${param("String", version)}`
    : sql`version_index = ${param("UInt32", Number(index))}`;
}

function objectText(
  object: { readonly project: Project; readonly objectId: string } & VersionRow & ObjectRow,
): string {
  const head = JSON.stringify({
    project_id: object.project,
    object_id: object.objectId,
    digest: object.digest,
    kind: object.kind,
    base_object_class: object.base_object_class === "" ? null : object.base_object_class,
    created_at: toIso(object.created_at),
    deleted_at: null,
    version_index: object.version_index,
    is_latest: object.version_index + 1 === object.version_count ? 1 : 0,
  });
  return `${head.slice(0, -1)},"val":${object.val}}`;
}
