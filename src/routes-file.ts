import { readFileSync } from "node:fs";
import { z } from "zod";
import { parseJsonText } from "./shared/escaped-keys.ts";
import type { RouteSettings } from "./gateway/upstreams.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface RoutesFile {
  readonly routes: readonly RouteSettings[] | undefined;
  /** Messages that begin with the index of the entry. */
  readonly problems: readonly string[];
}

const MAX_ENTRIES = 1000;

/** Reads the gateway routes file. API keys stay in the environment: entries name their variables. */
export function readRoutesFile(path: string, environment: Environment, url: z.ZodType<string>): RoutesFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    return failed([`the file cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
  let content: unknown;
  try {
    content = parseJsonText(text);
  } catch {
    // the parser's message quotes the file
    return failed(["the file is not JSON"]);
  }
  const name = z.string().min(1);
  const keyVariable = name.refine((variable) => keyOf(variable, environment) !== undefined, {
    error: ({ input }) => `the variable ${String(input)} is not set`,
  });
  const entry = z.strictObject({
    paths: z
      .array(name.regex(/^\/v1(?:beta)?\//, "must begin with /v1/ or /v1beta/"))
      .min(1)
      .optional(),
    models: z.array(name).min(1).optional(),
    api: z.enum(["openai", "anthropic", "gemini"]),
    url,
    api_key_env: keyVariable.optional(),
    provider: name.optional(),
  });
  const read = z.array(entry).min(1).max(MAX_ENTRIES).safeParse(content);
  if (!read.success)
    return failed(
      read.error.issues.map(
        ({ path: at, message }) => `${at.length === 0 ? "" : `entry ${at.join(".")}: `}${message}`,
      ),
    );
  const routes = read.data.map(({ api_key_env: variable, ...route }) => ({
    ...route,
    apiKey: variable === undefined ? undefined : keyOf(variable, environment),
  }));
  return { routes, problems: [] };
}

function keyOf(variable: string, environment: Environment): string | undefined {
  const key = environment[variable]?.trim();
  return key === "" ? undefined : key;
}

function failed(problems: readonly string[]): RoutesFile {
  return { routes: undefined, problems };
}
