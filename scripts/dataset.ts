import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { argumentsOr, orExit } from "./command-line.ts";
import { openService, type Service } from "./service.ts";

const USAGE = `Export calls as examples for training, and list what was exported.

  npm run dataset -- export --project <project> --format chat|preference|trajectories --out <file> [<options>]
  npm run dataset -- list --project <project>

Options: --filter <json> --query <json> --feedback <json> --only last_of_thread|leaves|roots --dedupe
         --holdout <part> --seed <number> --limit <lines>
The members are those of POST /dataset/export. Beside the file, <file>.manifest.json gets its manifest.
The command talks to the service that runs on DATA_DIR, or to the one at --url <url>, with ROOT_API_KEY or the key kept in
DATA_DIR. When none runs, the store is opened directly.`;

const text = { type: "string" } as const;
const { values, positionals } = argumentsOr(USAGE, {
  project: text,
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
  url: text,
  help: { type: "boolean", short: "h" },
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

function jsonIn(name: "filter" | "query" | "feedback" | "holdout" | "seed" | "limit"): unknown {
  const given = values[name];
  if (given === undefined) return undefined;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    throw new Error(`--${name} must be JSON.`);
  }
}

async function exportTo(service: Service, out: string): Promise<void> {
  const asked = {
    project_id: values.project,
    format: values.format ?? "chat",
    filter: jsonIn("filter"),
    query: jsonIn("query"),
    feedback: jsonIn("feedback"),
    only: values.only,
    dedupe: values.dedupe,
    holdout: jsonIn("holdout"),
    seed: jsonIn("seed"),
    limit: jsonIn("limit"),
  };
  const { header, chunks } = await service.stream("/dataset/export", asked);
  const partial = `${out}.partial`;
  const sha256 = createHash("sha256");
  try {
    await pipeline(
      chunks,
      async function* (source: AsyncIterable<Uint8Array>) {
        for await (const chunk of source) {
          sha256.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(partial),
    );
    const question = { project_id: values.project, export_id: header("x-sumtree-export-id"), limit: 1 };
    const { exports } = await service.ask<{ exports: readonly Manifest[] }>(
      "POST",
      "/dataset/query",
      question,
    );
    const manifest = exports[0]!;
    if (sha256.digest("hex") !== manifest.sha256) throw new Error("The file is not what was exported.");
    await rename(partial, out);
    await writeFile(`${out}.manifest.json`, `${JSON.stringify(manifest, null, 2)}\n`);
    console.log(`${manifest.lines} lines, ${manifest.bytes} bytes, sha256 ${manifest.sha256}`);
    console.log(JSON.stringify(manifest.counts));
  } finally {
    await rm(partial, { force: true });
  }
}

async function list(service: Service): Promise<void> {
  const asked = { project_id: values.project, limit: 100 };
  const { exports } = await service.ask<{ exports: readonly Manifest[] }>("POST", "/dataset/query", asked);
  console.table(
    exports.map(({ id, created_at, format, lines, bytes, sha256, counts }) => ({
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
