import { readFileSync } from "node:fs";
import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from "jsonc-parser";
import { z } from "zod";
import type { RouteSettings } from "./gateway/upstreams.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface RoutesFile {
  readonly routes: readonly RouteSettings[] | undefined;
  /** Messages that begin with the line. */
  readonly problems: readonly string[];
}

const STRICT = { disallowComments: true, allowTrailingComma: false };
const MAX_ENTRIES = 1000;

/** Reads the gateway routes file. API keys stay in the environment: entries name their variables. */
export function readRoutesFile(path: string, environment: Environment, url: z.ZodType<string>): RoutesFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    return failed([`the file cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, STRICT);
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const [broken] = errors;
  if (tree === undefined || broken !== undefined) {
    const what = broken === undefined ? "the file is empty" : printParseErrorCode(broken.error);
    return failed([`line ${lineAt(broken?.offset ?? 0)}: not JSON (${what})`]);
  }
  return readTree(tree, { environment, url, lineOf: (node) => lineAt(node.offset) });
}

interface Reading {
  readonly environment: Environment;
  readonly url: z.ZodType<string>;
  readonly lineOf: (node: Node) => number;
}

function readTree(tree: Node, { environment, url, lineOf }: Reading): RoutesFile {
  const name = z.string().min(1);
  const names = z.array(name).min(1);
  const entry = z.strictObject({
    paths: z
      .array(name.regex(/^\/v1(?:beta)?\//, "must begin with /v1/ or /v1beta/"))
      .min(1)
      .optional(),
    models: names.optional(),
    api: z.enum(["openai", "anthropic", "gemini"]),
    url,
    api_key_env: name.optional(),
    provider: name.optional(),
  });
  const read = z.array(entry).min(1).max(MAX_ENTRIES).safeParse(getNodeValue(tree));
  const problems = (read.error?.issues ?? []).map(({ path, message }) => {
    const at = nearestNode(tree, path as (string | number)[]);
    return `line ${lineOf(at)}: ${path.length === 0 ? "" : `${path.join(".")}: `}${message}`;
  });
  const entries = read.data ?? [];
  const missing = entries.flatMap(({ api_key_env: variable }, index) => {
    if (variable === undefined || keyOf(variable, environment) !== undefined) return [];
    const at = nearestNode(tree, [index, "api_key_env"]);
    return [`line ${lineOf(at)}: ${index}.api_key_env: the variable ${variable} is not set`];
  });
  if (problems.length + missing.length > 0) return failed([...problems, ...missing]);
  const routes = entries.map(({ api_key_env: variable, ...route }) => ({
    ...route,
    apiKey: variable === undefined ? undefined : keyOf(variable, environment),
  }));
  return { routes, problems: [] };
}

/** Returns the node at a path, or its nearest existing ancestor. */
function nearestNode(tree: Node, path: readonly (string | number)[]): Node {
  for (let length = path.length; length > 0; length--) {
    const found = findNodeAtLocation(tree, path.slice(0, length));
    if (found !== undefined) return found;
  }
  return tree;
}

function keyOf(variable: string, environment: Environment): string | undefined {
  const key = environment[variable]?.trim();
  return key === "" ? undefined : key;
}

function failed(problems: readonly string[]): RoutesFile {
  return { routes: undefined, problems };
}
