import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { misspeltSettings, readConfig, settingNames } from "../../src/config.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-config-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function problemsOf(environment: Readonly<Record<string, string>>): string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    return (error as Error).message
      .split("\n")
      .slice(1)
      .map((line) => line.trim());
  }
}

function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

describe("readConfig", () => {
  it("treats a blank variable as unset", () => {
    expect(readConfig({ PORT: " ", ROOT_API_KEY: "\t", MIN_FREE_DISK_BYTES: "" })).toEqual(readConfig({}));
  });

  it.each([
    ["HOST", "http://localhost"],
    ["HOST", "999.1.1.1"],
    ["PORT", "0x50"],
    ["PORT", "-1"],
    ["PORT", "65536"],
    ["MIN_FREE_DISK_BYTES", "2GB"],
    ["SHUTDOWN_TIMEOUT_MS", "2147483648"],
    ["QUERY_TIMEOUT_SECONDS", "86401"],
    ["TRUST_PROXY", "1.2.3"],
    ["TRUST_PROXY", "10.0.0.0/33"],
    ["DATA_DIR", "~/data"],
    ["CORS_ORIGINS", "*"],
    ["CORS_ORIGINS", "app.example.com"],
    ["CORS_ORIGINS", "https://app.example.com,null"],
    ["ROOT_API_KEY", "0123456789abcdef 0123456789abcdef"],
    ["CLICKHOUSE_INSERT_QUORUM", "most"],
    ["CHAT_UPSTREAM_URL", "https://user:%zz@host/v1"],
  ])("names %s if it is %j", (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(`^${name}: must`)]);
  });

  it.each([
    [{ CLICKHOUSE_CLUSTER: "main" }, "CLICKHOUSE_CLUSTER: needs CLICKHOUSE_URL"],
    [{ ALERT_WEBHOOK_URL: "http://127.0.0.1:1" }, "ALERT_WEBHOOK_SECRET: must be set"],
    [{ CLICKHOUSE_URL: "http://127.0.0.1:1" }, "ROOT_API_KEY: must be set when CLICKHOUSE_URL is set"],
  ])("names the missing settings of %j", (environment, said) => {
    expect(problemsOf(environment)).toEqual([expect.stringContaining(said)]);
  });

  it.each([
    ["HOST", "::1", "::1"],
    ["HOST", "localhost", "localhost"],
    ["HOST", "0.0.0.0", "0.0.0.0"],
    ["PORT", " 8081 ", 8081],
    ["TRUST_PROXY", "10.0.0.0/8,fd00::/8,192.0.2.1", "10.0.0.0/8,fd00::/8,192.0.2.1"],
    ["MIN_FREE_DISK_BYTES", "0", 0],
    [
      "ALERT_WEBHOOK_SECRET",
      `${webhookSecret(24)}  ${webhookSecret(64)}`,
      [webhookSecret(24), webhookSecret(64)],
    ],
  ] as const)("%s=%j is %j", (name, value, expected) => {
    expect(readConfig({ [name]: value })[name]).toEqual(expected);
  });
});

const SECRET = "s3cr3t-v4lue";
const URLS = [
  "not a url",
  "http://",
  `ftp://u:${SECRET}@host`,
  `https://u:%zz${SECRET}@host`,
  "http://h/%ff",
];
const KEYS = ["\u2603", `${SECRET}\u00e9`, `${SECRET}\n${SECRET}`, `${SECRET}\0`, "\u007f"];
const HOMES = ["~", "~/data", "~root/x", "~~", `a\0${SECRET}`];
/** Wrong values of settings that take more than numbers and words. */
const WRONG: Readonly<Record<string, readonly string[]>> = {
  HOST: ["http://localhost", "999.1.1.1", "a b", "host:80", SECRET.concat("/")],
  DATA_DIR: HOMES,
  BACKUP_DIR: HOMES,
  CLICKHOUSE_URL: [...URLS, `http://host:8123,${SECRET}`, "http://h:99999", ","],
  CLICKHOUSE_CLUSTER: ["a b", "a/b", "{}", "x".repeat(65), `${SECRET}!`],
  DEFAULT_ENTITY: ["a b", "a/b", "/", "x".repeat(129), `${SECRET}/${SECRET}`],
  ROOT_API_KEY: [SECRET, "x".repeat(31), "x".repeat(513), `${SECRET} ${"x".repeat(32)}`, "\u00e9".repeat(32)],
  TRAINING_UPSTREAM_URL: URLS,
  CHAT_UPSTREAM_URL: URLS,
  ANTHROPIC_UPSTREAM_URL: URLS,
  GEMINI_UPSTREAM_URL: URLS,
  TRAINING_UPSTREAM_API_KEY: KEYS,
  CHAT_UPSTREAM_API_KEY: KEYS,
  ANTHROPIC_UPSTREAM_API_KEY: KEYS,
  GEMINI_UPSTREAM_API_KEY: KEYS,
  ALERT_WEBHOOK_URL: [...URLS, `https://u:${SECRET}@hooks.example.com`],
  ALERT_WEBHOOK_SECRET: [
    SECRET,
    "whsec_",
    `whsec_${SECRET}`,
    webhookSecret(23),
    webhookSecret(65),
    `${webhookSecret(24)} x`,
  ],
};

function webhookSecret(bytes: number): string {
  return `whsec_${Buffer.alloc(bytes, SECRET).toString("base64")}`;
}
/** Taken as they are: a provider's name, and a file that the start reads. */
const ANYTHING = /_PROVIDER$|^PRICES_FILE$/;
const needed: Readonly<Record<string, object>> = {
  CLICKHOUSE_URL: { ROOT_API_KEY: "k".repeat(40) },
  CLICKHOUSE_CLUSTER: { ROOT_API_KEY: "k".repeat(40), CLICKHOUSE_URL: "http://host" },
  ALERT_WEBHOOK_URL: { ALERT_WEBHOOK_SECRET: webhookSecret(24) },
};

describe.each(settingNames.filter((name) => !ANYTHING.test(name)))("a wrong %s", (name) => {
  it("is one sentence that names it, without its value", () => {
    const values = WRONG[name] ?? ["-1", "1e99", "0x10", `${SECRET} GB`, "\u2603"];
    for (const value of values) {
      const problems = problemsOf({ ...needed[name], [name]: value });
      const said = [expect.stringMatching(new RegExp(`^${name}: (?:must|the file|line)`))];
      expect([value, problems]).toEqual([value, said]);
      expect(problems[0]).not.toContain(SECRET);
    }
  });
});

it.each([...URLS, "", "//host", 7, null])("names the entry of a route to %j", (url) => {
  const routes = JSON.stringify(
    [
      { api: "openai", url: "http://a" },
      { api: "openai", url },
    ],
    null,
    1,
  );
  const problems = problemsOf({ GATEWAY_ROUTES_FILE: file("routes.json", routes) });
  expect(problems).toEqual([expect.stringMatching(/^GATEWAY_ROUTES_FILE: entry 1\.url: must (?:be|have)/)]);
  expect(problems[0]).not.toContain(SECRET);
});

describe("an upstream", () => {
  it("has a key or a user, not both, and errors contain neither", () => {
    const url = { TRAINING_UPSTREAM_URL: "https://user:secret@host/v1" };
    expect(readConfig(url)).toMatchObject(url);
    expect(problemsOf({ ...url, TRAINING_UPSTREAM_API_KEY: "secret" })).toEqual([
      "TRAINING_UPSTREAM_API_KEY: must not be set beside a user and a password in TRAINING_UPSTREAM_URL",
    ]);
    expect(
      readConfig({ ...url, CHAT_UPSTREAM_URL: "https://chat/v1", CHAT_UPSTREAM_API_KEY: "k" }),
    ).toMatchObject(url);
  });
});

describe("a setting from a file", () => {
  const key = "0123456789abcdef0123456789abcdef";
  it("is the first line of the file", () => {
    expect(readConfig({ ROOT_API_KEY_FILE: file("key", `${key}\nmore\n`) }).ROOT_API_KEY).toBe(key);
    expect(readConfig({ PORT_FILE: file("port", "8082\r\n") }).PORT).toBe(8082);
  });
  it("is validated like any other, and errors do not contain it", () => {
    expect(problemsOf({ ROOT_API_KEY_FILE: file("short", "tiny-secret") })).toEqual([
      "ROOT_API_KEY: must have at least 32 characters",
    ]);
  });
  it("is rejected if the file is missing or empty, or if the variable is set, too", () => {
    expect(problemsOf({ ROOT_API_KEY_FILE: join(dir, "none") })).toEqual([
      "ROOT_API_KEY_FILE: the file cannot be read (ENOENT)",
    ]);
    expect(problemsOf({ ROOT_API_KEY_FILE: file("empty", "\n") })).toEqual([
      "ROOT_API_KEY_FILE: the file's first line is empty",
    ]);
    expect(problemsOf({ ROOT_API_KEY_FILE: file("key2", key), ROOT_API_KEY: key })).toEqual([
      "ROOT_API_KEY: set it or ROOT_API_KEY_FILE, not both",
    ]);
  });
});

describe("misspeltSettings", () => {
  it("names misspelt settings", () => {
    const environment = { CLICKHOSE_URL: "x", CLICKHOUSE_USER: "x", LOGLEVEL: "x", PORTS: "1" };
    expect(misspeltSettings(environment)).toEqual([
      { variable: "CLICKHOSE_URL", nearest: "CLICKHOUSE_URL" },
      { variable: "CLICKHOUSE_USER", nearest: "CLICKHOUSE_URL" },
      { variable: "LOGLEVEL", nearest: "LOG_LEVEL" },
      { variable: "PORTS", nearest: "PORT" },
    ]);
  });
  it("ignores settings and common variables", () => {
    const usual = ["PATH", "HOME", "HOSTNAME", "USER", "LANG", "TERM", "NODE_ENV", "TMPDIR"];
    const environment = Object.fromEntries(
      [...usual, "PORT", "ROOT_API_KEY_FILE"].map((name) => [name, "x"]),
    );
    expect(misspeltSettings(environment)).toEqual([]);
  });
});
