import { defineConfig } from "oxlint";

/**
 * What each folder of `src` may import of the others. Whatever it does not name here, it may not import; what is new must be
 * entered. Files directly in `src` wire the rest, and nobody imports them but each other, except `version.ts`.
 */
const libraries = {
  shared: [],
  usage: ["shared"],
  buckets: [],
  query: ["shared"],
  clickhouse: ["query", "shared"],
  prices: ["clickhouse", "query", "usage", "shared"],
  calls: ["clickhouse", "query", "usage", "shared"],
  rollup: ["calls", "prices", "buckets", "clickhouse", "query", "usage", "shared"],
  ledger: ["rollup", "prices", "clickhouse", "query", "usage", "shared"],
} as const;

const edges = {
  http: ["auth", "buckets", "clickhouse", "query", "shared"],
  auth: ["http", "clickhouse", "query", "shared"],
  openapi: ["auth", "shared"],
} as const;

const features = [
  "api-keys",
  "backups",
  "calls-query",
  "costs",
  "feedback",
  "feedback-stats",
  "gateway",
  "ingest",
  "objects",
  "otlp",
  "page",
  "projects",
  "receipts",
  "trace-usage",
  "traces",
  "usage-stats",
] as const;

/** A feature imports libraries, `http` and `auth`, never another feature. */
const forFeatures = [...Object.keys(libraries), "http", "auth"];

/** Beside its `routes.ts`, what of a feature takes or answers a request itself. */
const fastifyToo = ["src/gateway/**", "src/objects/upload.ts", "src/api-keys/whoami.ts"];

const drivers = ["chdb", "chdb/connection", "@clickhouse/client"].map((name) => ({
  name,
  message: "Only src/clickhouse knows a driver.",
}));
const caller = { name: "undici", message: "Only src/gateway/relay/upstream.ts calls out." };
const fastify = {
  name: "fastify",
  message: "Only src/http, src/auth, src/openapi and the routes of a feature know Fastify.",
};

const rooms: readonly string[] = [...Object.keys(libraries), ...Object.keys(edges), ...features];
const ROOT_FILES =
  "app|main|config|open-store|start-failure|connection-cap|service-address|service-metrics|periodic|ledger-jobs";

interface Allowed {
  readonly imports: readonly string[];
  readonly fastify?: boolean;
  readonly drivers?: boolean;
  readonly undici?: boolean;
  readonly pure?: boolean;
}

/** The rule for the files of a room, however deep they lie. */
function restricted(room: string, allowed: Allowed) {
  const forbidden = rooms.filter((other) => other !== room && !allowed.imports.includes(other));
  return [
    "error",
    {
      paths: [
        ...(allowed.drivers ? [] : drivers),
        ...(allowed.undici ? [] : [caller]),
        ...(allowed.fastify ? [] : [fastify]),
      ],
      patterns: [
        {
          regex: `^(\\.\\./)+(${forbidden.join("|")})/`,
          message: `Of the other folders, src/${room} imports these alone: ${allowed.imports.join(", ") || "none"}.`,
        },
        {
          regex: `^(\\.\\./)+(${ROOT_FILES})\\.ts$`,
          message: "Data flows one way: app.ts imports the others.",
        },
        ...(allowed.pure ? [{ regex: "^node:", message: `src/${room} does no I/O.` }] : []),
      ],
    },
  ] as const;
}

function override(files: readonly string[], room: string, allowed: Allowed) {
  return { files: [...files], rules: { "no-restricted-imports": restricted(room, allowed) } };
}

const layers = [
  ...Object.entries(libraries).map(([room, imports]) =>
    override([`src/${room}/**`], room, {
      imports,
      drivers: room === "clickhouse",
      pure: room === "query" || room === "usage" || room === "shared",
    }),
  ),
  ...Object.entries(edges).map(([room, imports]) =>
    override([`src/${room}/**`], room, { imports, fastify: true }),
  ),
  ...features.flatMap((room) => [
    override([`src/${room}/**`], room, { imports: forFeatures }),
    override(
      [`src/${room}/**/*routes.ts`, ...fastifyToo.filter((file) => file.startsWith(`src/${room}/`))],
      room,
      {
        imports: forFeatures,
        fastify: true,
      },
    ),
  ]),
  override(["src/gateway/relay/upstream.ts"], "gateway", { imports: forFeatures, undici: true }),
];

/** The page: what its views share knows none of them, a view knows no other, and none of it knows the service but by its routes. */
const views = ["traces", "trace", "usage", "feedback"] as const;
const theService = { regex: "/src/", message: "The page knows the service by its routes." };
const otherViews = {
  regex: `^\\.\\./(${[...views, "shell"].join("|")})/`,
  message: "A view never imports another, and what they share imports none.",
};

const page = [
  {
    files: ["web/**"],
    env: { browser: true, node: false },
    rules: {
      // the clean-up of an effect is there in one branch alone
      "typescript/consistent-return": "off",
      "no-restricted-properties": "off",
      "no-restricted-imports": ["error", { patterns: [theService] }],
    },
  },
  {
    files: [...views, "numbers", "state", "api", "parts"].map((room) => `web/${room}/**`),
    rules: { "no-restricted-imports": ["error", { patterns: [theService, otherViews] }] },
  },
] satisfies Parameters<typeof defineConfig>[0]["overrides"];

export default defineConfig({
  plugins: ["typescript", "import", "unicorn", "oxc", "node", "promise"],
  categories: {
    correctness: "error",
    suspicious: "error",
    perf: "off",
  },
  env: {
    node: true,
    es2024: true,
  },
  rules: {
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/no-unnecessary-type-parameters": "off",
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "import/no-unassigned-import": "off",
    "no-shadow": "off",
    "no-await-in-loop": "off",
    "unicorn/no-array-sort": "off",
    "unicorn/no-array-reverse": "off",
    "unicorn/consistent-function-scoping": "off",
    "unicorn/require-post-message-target-origin": "off",
    "promise/always-return": "off",
    "no-underscore-dangle": "off",
    eqeqeq: [
      "error",
      "always",
      {
        null: "ignore",
      },
    ],
    "no-console": "error",
    "node/no-process-env": "error",
    "max-lines": [
      "error",
      {
        max: 300,
        skipBlankLines: true,
        skipComments: true,
      },
    ],
    "max-lines-per-function": [
      "error",
      {
        max: 80,
        skipBlankLines: true,
        skipComments: true,
      },
    ],
    "max-params": ["error", 4],
    "no-restricted-properties": [
      "error",
      {
        object: "JSON",
        property: "parse",
        message: "What others wrote goes through parseJson or parseJsonText: V8 misreads escaped keys.",
      },
    ],
    "no-restricted-imports": ["error", { paths: [...drivers, caller] }],
    "oxc/no-async-endpoint-handlers": "off",
    "import/no-named-as-default-member": "off",
  },
  overrides: [
    ...layers,
    ...page,
    {
      files: [
        "src/config.ts",
        "src/main.ts",
        "src/clickhouse/connect.ts",
        "scripts/**",
        "test/**",
        "bench/**",
        "vitest.config.ts",
      ],
      rules: {
        "no-restricted-globals": "off",
        "node/no-process-env": "off",
      },
    },
    {
      files: ["bin/**", "test/**", "bench/**", "scripts/**"],
      rules: {
        "max-lines-per-function": "off",
        "max-lines": "off",
        "no-await-in-loop": "off",
        "no-restricted-imports": "off",
        "no-restricted-properties": "off",
        "typescript/no-non-null-assertion": "off",
      },
    },
    {
      files: [
        "src/shared/escaped-keys.ts",
        "src/shared/exact-integers.ts",
        "src/usage/usage-column.ts",
        "src/calls/pending-parts.ts",
        "src/clickhouse/transport/create-engine.ts",
      ],
      rules: {
        "no-restricted-properties": "off",
      },
    },
    {
      files: ["*.config.ts", "web/vite.config.ts"],
      rules: {
        "import/no-default-export": "off",
      },
    },
    {
      files: ["bin/**", "scripts/**", "src/main.ts", "bench/**"],
      rules: {
        "no-console": "off",
      },
    },
  ],
  ignorePatterns: ["node_modules", "data", "coverage", "web/built", "web/api/schema.d.ts"],
});
