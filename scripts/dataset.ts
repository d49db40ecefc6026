import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { open, rename, rm, writeFile, type FileHandle } from "node:fs/promises";
import { argumentsOr, numberIn, orExit, serviceOptions, text } from "./command-line.ts";
import { openService, type Service } from "./service.ts";

const USAGE = `Export calls as examples for training, and list what was exported.

  npm run dataset -- export --project <project> --format chat|preference|trajectories --out <file> [<options>]
  npm run dataset -- list --project <project>

Options: --filter <json> --query <json> --feedback <json> --only last_of_thread|leaves|roots --dedupe
         --holdout <part> --seed <number> --limit <lines>
The members are those of POST /dataset/export. Beside the file, <file>.manifest.json gets its manifest; neither may exist.
The command talks to the service that runs on DATA_DIR, or to the one at --url <url>, with ROOT_API_KEY or the key kept in
DATA_DIR. When none runs, the store is opened directly.`;

const { values, positionals } = argumentsOr(USAGE, {
  ...serviceOptions,
  format: text,
  out: text,
  filter: text,
  query: text,
  feedback: text,
  only: text,
  dedupe: { type: "boolean" },
  holdout: text,
  seed: text,
  limit: text,
});

interface Manifest {
  readonly id: string;
  readonly created_at: string;
  readonly format: string;
  readonly counts: {
    readonly selected: number;
    readonly exported: number;
    readonly held_out: number;
    readonly left_out: Readonly<Record<string, number>>;
  };
  readonly sha256: string;
  readonly bytes: number;
  readonly lines: number;
}

function jsonIn(name: "filter" | "query" | "feedback"): unknown {
  const given = values[name];
  if (given === undefined) return undefined;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    throw new Error(`--${name} must be JSON.`);
  }
}

/** Exports to new files, which get their names once they are whole. */
async function exportTo(service: Service, out: string): Promise<void> {
  const asked = {
    project_id: values.project,
    format: values.format ?? "chat",
    filter: jsonIn("filter"),
    query: jsonIn("query"),
    feedback: jsonIn("feedback"),
    only: values.only,
    dedupe: values.dedupe,
    holdout: numberIn(values.holdout, "holdout"),
    seed: numberIn(values.seed, "seed"),
    limit: numberIn(values.limit, "limit"),
  };
  const names = [out, `${out}.manifest.json`] as const;
  for (const name of names) if (existsSync(name)) throw new Error(`${name} exists.`);
  const [lines, told] = names.map((name) => `${name}.partial`) as [string, string];
  const file = await open(lines, "w");
  try {
    const manifest = await download(service, asked, file);
    await writeFile(told, `${JSON.stringify(manifest, null, 2)}\n`);
    await rename(lines, out);
    await rename(told, names[1]);
    console.log(`${manifest.lines} lines, ${manifest.bytes} bytes, sha256 ${manifest.sha256}`);
    console.log(JSON.stringify(manifest.counts));
  } finally {
    await file.close();
    for (const partial of [lines, told]) await rm(partial, { force: true });
  }
}

/** Writes the lines of an export to a file; returns their manifest. */
async function download(service: Service, asked: object, file: FileHandle): Promise<Manifest> {
  const { header, chunks } = await service.stream("/dataset/export", asked);
  const export_id = header("x-sumtree-export-id");
  if (export_id === null) throw new Error("The response names no export.");
  const sha256 = createHash("sha256");
  for await (const chunk of chunks) {
    sha256.update(chunk);
    await file.appendFile(chunk);
  }
  const [manifest] = await manifestsOf(service, { export_id, limit: 1 });
  if (manifest?.sha256 !== sha256.digest("hex")) throw new Error("The lines are not those of the manifest.");
  return manifest;
}

async function manifestsOf(service: Service, asked: object): Promise<readonly Manifest[]> {
  const body = { project_id: values.project, ...asked };
  const { exports } = await service.ask<{ exports: readonly Manifest[] }>("POST", "/dataset/query", body);
  return exports;
}

async function list(service: Service): Promise<void> {
  const latest = await manifestsOf(service, { limit: 100 });
  console.table(
    latest.map(({ id, created_at, format, lines, bytes, sha256, counts }) => ({
      id,
      created_at,
      format,
      lines,
      bytes,
      selected: counts.selected,
      sha256: sha256.slice(0, 12),
    })),
  );
}

const [name] = positionals;
if (values.help === true) {
  console.log(USAGE);
  process.exit(0);
}
const isComplete = name === "list" || (name === "export" && values.out !== undefined);
if (!isComplete || values.project === undefined || positionals.length !== 1) {
  console.error(USAGE);
  process.exit(2);
}
await orExit(async (config) => {
  const service = await openService(config, { url: values.url, mayMake: false });
  try {
    await (name === "list" ? list(service) : exportTo(service, values.out!));
  } finally {
    await service.close();
  }
});
