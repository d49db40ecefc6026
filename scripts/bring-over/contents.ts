import { isJsonObject } from "../../src/shared/json.ts";
import type { Service } from "./service.ts";

/** Digests of what calls, objects and rows refer to. A set can be gone through while it grows. */
export interface Contents {
  readonly files: Set<string>;
  readonly tables: Set<string>;
}

interface Move {
  readonly from: Service;
  readonly to: Service;
  readonly project: string;
}

const PAGE = 100;

/** Notes the files and tables of the project that a value refers to. */
export function noteContents(value: unknown, project: string, contents: Contents): void {
  if (typeof value === "string") {
    const [, owner, digest] = /^weave:\/\/\/([^/]+\/[^/]+)\/table\/([^/]+)/.exec(value) ?? [];
    if (owner === project) contents.tables.add(digest!);
    return;
  }
  if (Array.isArray(value)) for (const item of value) noteContents(item, project, contents);
  if (!isJsonObject(value)) return;
  if (value["_type"] === "CustomWeaveType" && isJsonObject(value["files"])) {
    for (const digest of Object.values(value["files"]))
      if (typeof digest === "string") contents.files.add(digest);
  }
  for (const below of Object.values(value)) noteContents(below, project, contents);
}

/** All objects, and of files and tables those that something refers to. Errors: one that has another digest there. */
export async function bringContents(move: Move, contents: Contents) {
  const objects = await bringObjects(move, contents);
  for (const digest of contents.tables) await bringTable(move, digest, contents);
  for (const digest of contents.files) await bringFile(move, digest);
  return { objects, tables: contents.tables.size, files: contents.files.size };
}

interface StoredObject {
  readonly object_id: string;
  readonly digest: string;
  readonly base_object_class: string | null;
  readonly val: unknown;
}

/** Oldest first, so that their versions have the same numbers. */
async function bringObjects({ from, to, project }: Move, contents: Contents): Promise<number> {
  const sort_by = [{ field: "created_at", direction: "asc" }];
  for (let offset = 0; ;) {
    const page = { project_id: project, sort_by, limit: PAGE, offset };
    const { objs } = await from.json<{ objs: readonly StoredObject[] }>("/objs/query", page);
    if (objs.length === 0) return offset;
    for (const { object_id, digest, base_object_class, val } of objs) {
      noteContents(val, project, contents);
      const obj = { project_id: project, object_id, val, set_base_object_class: base_object_class };
      const made = await to.json<{ digest: string }>("/obj/create", { obj });
      refuseOther(`object ${object_id}`, digest, made.digest);
    }
    offset += objs.length;
  }
}

async function bringTable({ from, to, project }: Move, digest: string, contents: Contents): Promise<void> {
  let made = await to.json<{ digest: string }>("/table/create", { table: { project_id: project, rows: [] } });
  for (let offset = 0; ;) {
    const page = { project_id: project, digest, limit: PAGE, offset };
    const { rows } = await from.json<{ rows: readonly { val: unknown }[] }>("/table/query", page);
    if (rows.length === 0) break;
    noteContents(rows, project, contents);
    const updates = rows.map(({ val }) => ({ append: { row: val } }));
    made = await to.json("/table/update", { project_id: project, base_digest: made.digest, updates });
    offset += rows.length;
  }
  refuseOther("table", digest, made.digest);
}

async function bringFile({ from, to, project }: Move, digest: string): Promise<void> {
  const form = new FormData();
  form.append("project_id", project);
  form.append("file", await (await from.ask("/file/content", { project_id: project, digest })).blob());
  const made = await to.json<{ digest: string }>("/file/create", form);
  refuseOther("file", digest, made.digest);
}

function refuseOther(what: string, before: string, after: string): void {
  if (before !== after)
    throw new Error(`The ${what} has the digest ${after} in the new store, and ${before} in the old one.`);
}
