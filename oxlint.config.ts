import { defineConfig } from "oxlint";

/**
 * What each module of `src` may import of the others: only what stands before it, so that data flows one way. Files directly in
 * `src` wire the modules, and nobody imports them but each other, except `version.ts`.
 */
const modules = {
  shared: [],
  fairness: [],
  journal: [],
  usage: ["shared"],
  buckets: [],
  query: ["shared"],
  store: ["query", "fairness", "shared"],
  http: ["store", "buckets", "query", "fairness", "shared"],
  prices: ["http", "store", "query", "usage", "shared"],
  calls: ["prices", "http", "store", "query", "usage", "fairness", "shared"],
  "trace-usage": ["calls", "prices", "http", "store", "query", "buckets", "usage", "fairness", "shared"],
  "usage-rollup": ["trace-usage", "prices", "store", "query", "buckets", "usage", "fairness", "shared"],
  traces: [
    "usage-rollup",
    "trace-usage",
    "calls",
    "prices",
    "http",
    "store",
    "query",
    "buckets",
    "usage",
    "fairness",
    "shared",
  ],
  ratings: ["http", "store", "query", "shared"],
  stats: [
    "ratings",
    "traces",
    "usage-rollup",
    "trace-usage",
    "prices",
    "http",
    "store",
    "query",
    "usage",
    "fairness",
    "shared",
  ],
  budgets: [
    "stats",
    "trace-usage",
    "usage-rollup",
    "prices",
    "http",
    "store",
    "query",
    "buckets",
    "usage",
    "fairness",
    "shared",
  ],
  feedback: ["stats", "ratings", "calls", "http", "store", "query", "buckets", "usage", "shared"],
  datasets: ["ratings", "calls", "http", "store", "query", "usage", "fairness", "shared"],
  "agent-metrics": ["stats", "http", "store", "query", "buckets", "shared"],
  ingest: ["agent-metrics", "calls", "http", "store", "query", "usage", "shared"],
  content: ["http", "store", "query", "shared"],
  "training-jobs": ["http", "store", "query", "usage", "fairness", "shared"],
  gateway: ["training-jobs", "budgets", "calls", "prices", "http", "usage", "journal", "fairness", "shared"],
  admin: ["calls", "http", "store", "query", "fairness", "shared"],
  web: ["http", "shared"],
} as const satisfies Record<string, readonly string[]>;

type Module = keyof typeof modules;

/** Parts of modules that answer no request themselves. */
const cores = {
  "prices/list": ["usage", "shared"],
  "prices/project": ["store", "query", "usage", "shared"],
  "calls/events": ["query", "usage", "shared"],
  "calls/storage-key": ["store", "query", "usage", "shared"],
  "calls/write": ["store", "query", "usage", "shared"],
  "trace-usage/table": ["calls", "store", "query", "usage", "shared"],
  "trace-usage/fold": ["calls", "prices", "usage", "shared"],
  "gateway/stream": ["shared"],
  "gateway/ownership/ledger": ["store", "query", "shared"],
} as const satisfies Record<`${Module}/${string}`, readonly Module[]>;

/** Beside the routes of a module, what takes or answers a request itself. */
const FASTIFY = [
  "src/http/**",
  "src/gateway/**",
  "src/*/**/*routes.ts",
  "src/content/upload.ts",
  "src/admin/keys/whoami.ts",
];
const PURE: readonly string[] = ["query", "usage", "shared"];

const drivers = ["chdb", "chdb/connection", "@clickhouse/client"].map((name) => ({
  name,
  message: "Only src/store knows a driver.",
}));
const caller = { name: "undici", message: "Only src/gateway/relay/upstream.ts calls out." };
const fastify = { name: "fastify", message: "Only src/http and the routes of a module know Fastify." };

const ROOT_FILES =
  "app|main|config|gateway-settings|open-store|start-failure|connection-limit|service-address|service-metrics|service-limiters|periodic|deletion-jobs|training-service|usage-rollup-jobs|budget-jobs|budget-service|shutdown-deadlines|disk-limit|open-store-journal";

interface Allowed {
  readonly imports: readonly string[];
  readonly fastify?: boolean;
  readonly undici?: boolean;
}

/** The rule for files of a module, however deep they lie. */
function restricted(module: string, allowed: Allowed) {
  const forbidden = Object.keys(modules).filter(
    (other) => other !== module && !allowed.imports.includes(other),
  );
  return [
    "error",
    {
      paths: [
        ...(module === "store" ? [] : drivers),
        ...(allowed.undici ? [] : [caller]),
        ...(allowed.fastify ? [] : [fastify]),
      ],
      patterns: [
        {
          regex: `^(\\.\\./)+(${forbidden.join("|")})/`,
          message: `Of the other modules, these files of src/${module} import these alone: ${allowed.imports.join(", ") || "none"}.`,
        },
        {
          regex: `^(\\.\\./)+(${ROOT_FILES})\\.ts$`,
          message: "Data flows one way: app.ts imports the others.",
        },
        ...(PURE.includes(module) ? [{ regex: "^node:", message: `src/${module} does no I/O.` }] : []),
      ],
    },
  ] as const;
}

function override(files: readonly string[], module: string, allowed: Allowed) {
  return { files: [...files], rules: { "no-restricted-imports": restricted(module, allowed) } };
}

const layers = [
  ...Object.entries(modules).flatMap(([module, imports]) => [
    override([`src/${module}/**`], module, { imports }),
    override(
      FASTIFY.filter((files) => files.startsWith(`src/${module}/`) || files.startsWith("src/*/")).map(
        (files) => files.replace("src/*/", `src/${module}/`),
      ),
      module,
      { imports, fastify: true },
    ),
  ]),
  ...Object.entries(cores).map(([core, imports]) =>
    override([`src/${core}/**`], core.slice(0, core.indexOf("/")), { imports }),
  ),
  override(["src/gateway/relay/upstream.ts"], "gateway", { imports: modules.gateway, undici: true }),
];

/** The page: what its views share knows none of them, a view knows no other, and none of it knows the service but by its routes. */
const views = ["traces", "trace", "usage", "feedback", "training"] as const;
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
    files: [...views, "format", "state", "api", "components"].map((module) => `web/${module}/**`),
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
    "import/no-cycle": ["error", { ignoreTypes: false }],
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
        "src/store/connect.ts",
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
        "src/calls/write/pending-events.ts",
        "src/store/transport/create-engine.ts",
      ],
      rules: {
        "no-restricted-properties": "off",
      },
    },
    {
      files: ["*.config.ts", "web/vite.config.ts", ".ci/closing-line.js"],
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
