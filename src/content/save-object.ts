import { isJsonObject, stringifyJson } from "../shared/json.ts";
import type { Project } from "../shared/project.ts";
import type { ContentWriter } from "./content-writer.ts";
import { digestOf } from "./digest.ts";

export interface NewObject {
  readonly objectId: string;
  readonly val: unknown;
  /** Default: the base class in the value. */
  readonly baseClass: string | undefined;
}

/** Stores a version of an object and returns its digest. Errors: `StorageError`. */
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

/** Returns the last class before `Object` and `BaseModel`, which end the list of bases. */
function baseClassOf(val: unknown): string | undefined {
  if (!isJsonObject(val) || !Array.isArray(val["_bases"])) return undefined;
  const bases = val["_bases"] as readonly unknown[];
  if (bases.at(-1) !== "BaseModel" || bases.at(-2) !== "Object") return undefined;
  const found = bases.length > 2 ? bases.at(-3) : val["_class_name"];
  return typeof found === "string" ? found : undefined;
}
