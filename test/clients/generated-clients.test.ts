import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { document, OPENAPI_PATH } from "../helpers/openapi-document.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

const run = promisify(execFile);
const { resolve } = createRequire(import.meta.url);
const ROOT = join(import.meta.dirname, "../..");
const withTypescriptApi = `--import ${join(import.meta.dirname, "programs/typescript-api.mjs")}`;

const dir = mkdtempSync(join(tmpdir(), "sumtree-clients-"));
let test: TestApp;
let baseUrl: string;

/** Runs the program of a package. */
async function program(name: string, args: readonly string[]): Promise<void> {
  const manifest = findManifest(name);
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: Record<string, string> | string };
  const path = join(manifest, "..", typeof bin === "string" ? bin : Object.values(bin)[0]!);
  const env = { ...process.env, NODE_OPTIONS: withTypescriptApi };
  await run(process.execPath, [path, ...args], { cwd: dir, env });
}

function findManifest(name: string): string {
  return resolve
    .paths(name)!
    .map((folder) => join(folder, name, "package.json"))
    .find(isThere)!;
}

function isThere(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}

/** Program that uses the generated types. */
const USES = `
import type { components, operations } from "./openapi-typescript.ts";
import type * as hey from "./hey-api/index";
import { queryCalls, readCall, traceUsage } from "./orval";

type Schemas = components["schemas"];
export const status = (call: Schemas["Call"]): "running" | "success" | "error" | "descendant_error" | undefined =>
  call.summary.weave?.status;
export const ids = (started: hey.StartCallResponse): [string, string] => [started.id, started.trace_id];
export const truncated = (headers: operations["traceUsage"]["responses"][200]["headers"]): "true" | "false" | undefined =>
  headers["x-truncated"];
export async function tokens(): Promise<number> {
  const answer = await traceUsage({ project_id: "acme/demo", filter: { trace_roots_only: true } });
  if (answer.status !== 200) return 0;
  return Object.values(answer.data.call_usage).flatMap((byLlm) => Object.values(byLlm)).reduce((sum, usage) => sum + usage.total_tokens, 0);
}
export async function name(): Promise<string | undefined> {
  const answer = await readCall({ project_id: "acme/demo", id: "a" });
  return answer.status === 200 ? answer.data.call?.op_name : undefined;
}
export const issue = (error: hey.StartCallErrors[422]): string | undefined => error.detail[0]?.msg;
export const lines = (answer: Awaited<ReturnType<typeof queryCalls>>): Promise<Schemas["Call"]> | undefined =>
  answer.status === 200 ? answer.stream.json() : undefined;
`;

beforeAll(async () => {
  test = await startApp();
  await test.app.listen({ host: "127.0.0.1", port: 0 });
  baseUrl = `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`;
  const orval = {
    sumtree: {
      input: { target: OPENAPI_PATH },
      output: { target: join(dir, "orval.ts"), mode: "single", client: "fetch", baseUrl },
    },
  };
  writeFileSync(join(dir, "orval.config.mjs"), `export default ${JSON.stringify(orval)};`);
  writeFileSync(join(dir, "uses.ts"), USES);
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: false,
    allowImportingTsExtensions: true,
    target: "es2023",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["es2023", "dom", "dom.iterable"],
    types: [],
  };
  writeFileSync(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["."] }));
  await Promise.all([
    program("openapi-typescript", [OPENAPI_PATH, "-o", join(dir, "openapi-typescript.ts")]),
    program("@hey-api/openapi-ts", [
      "-i",
      OPENAPI_PATH,
      "-o",
      join(dir, "hey-api"),
      "-c",
      "@hey-api/client-fetch",
    ]),
    program("orval", ["--config", "orval.config.mjs"]),
  ]);
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await test.close();
});

/** Members whose values are JSON of the user's, or of the training service. */
const FREE_FORM =
  /^(?:\[key: string\]|output|vals?|rows?|\$literal|scorer_\w+|span_\w+|sort_by|ModelLogRes|SystemCheckRes|data|content|"application\/x-protobuf")\??$/;

describe("the clients generated from openapi.json", () => {
  it("compile under strict, with the types that users need", async () => {
    const errors = await run(process.execPath, [
      join(ROOT, "node_modules/typescript/bin/tsc"),
      "-p",
      dir,
    ]).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
    expect(errors).toBe("");
  });

  it.each(["openapi-typescript.ts", "hey-api/types.gen.ts"])("%s has a type for every schema", (file) => {
    const lines = readFileSync(join(dir, file), "utf8").split("\n");
    const unknowns = lines
      .map(
        (line) =>
          /^\s*(?:export type )?(\S+?\??|\[key: string\])\s*[:=] (?:Array<)?unknown(?:\[\])?\b/.exec(
            line,
          )?.[1],
      )
      .filter((name) => name !== undefined && !FREE_FORM.test(name));
    expect(unknowns).toEqual([]);
    const text = lines.join().toLowerCase();
    const names = Object.keys(document.components!.schemas!);
    expect(names.filter((name) => !text.includes(name.toLowerCase()))).toEqual([]);
  });

  it("work: orval's client writes a call and reads it", async () => {
    const client = (await import(join(dir, "orval.ts"))) as Record<
      string,
      (body: object, options: RequestInit) => Promise<{ status: number; data: unknown; stream: Response }>
    >;
    const options = { headers: { authorization: authorization() } };
    const start = {
      project_id: "acme/demo",
      id: "a",
      trace_id: "t",
      op_name: "answer",
      started_at: "2026-01-15T09:30:00Z",
    };
    expect((await client["startCall"]!({ start }, options)).data).toEqual({ id: "a", trace_id: "t" });
    const read = await client["readCall"]!({ project_id: "acme/demo", id: "a" }, options);
    expect(read.data).toMatchObject({
      call: { op_name: "answer", summary: { weave: { status: "running" } } },
    });
    const listed = await client["queryCalls"]!({ project_id: "acme/demo" }, options);
    expect(JSON.parse(await listed.stream.text())).toMatchObject({ id: "a" });
    expect(await client["readCall"]!({ project_id: 7 }, options)).toMatchObject({ status: 422 });
  });
});
