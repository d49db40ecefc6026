import { argumentsOr, numberIn, orExit, serviceOptions, text } from "./command-line.ts";
import { openService, type Service } from "./service.ts";

const USAGE = `Manage the budgets of a project.

  npm run budgets -- list --project <project>
  npm run budgets -- create --project <project> [--scope <scope>] [--match <value>] <limits> [<options>]
  npm run budgets -- update <id> --project <project> [<limits>] [<options>]
  npm run budgets -- delete <id> --project <project>

Limits: --usd <dollars> --tokens <count> --requests <count>; 0: nothing passes. An update replaces all three.
Options: --name <text> --window hour|day|week|month|ever --timezone <zone> --unknown-price refuse|count_only --alert <fraction>…
Scopes: project (default), api_key, svc_user_id, thread_id, trace_id, llm. Without --match, each value has the limit by itself.
The command talks to the service that runs on DATA_DIR, or to the one at --url <url>, with ROOT_API_KEY or the key kept in
DATA_DIR. When none runs, the store is opened directly.`;

const { values, positionals } = argumentsOr(USAGE, {
  ...serviceOptions,
  scope: text,
  match: text,
  usd: text,
  tokens: text,
  requests: text,
  name: text,
  window: text,
  timezone: text,
  "unknown-price": text,
  alert: { type: "string", multiple: true },
});

type Amounts = Readonly<Record<"usd" | "tokens" | "requests", number | null>>;

interface ListedBudget {
  readonly id: string;
  readonly name: string | null;
  readonly scope: string;
  readonly match: string;
  readonly limit: Amounts;
  readonly spent: Amounts;
  readonly held: Amounts;
  readonly window: string | null;
  readonly resets_at: string | null;
}

const UNITS = ["usd", "tokens", "requests"] as const;

/** Returns the members that the options set. */
function membersOf() {
  const limit = Object.fromEntries(UNITS.map((unit) => [unit, numberIn(values[unit], unit)]));
  const hasLimit = Object.values(limit).some((amount) => amount !== undefined);
  return {
    project_id: values.project,
    ...(hasLimit && { limit }),
    name: values.name,
    window: values.window === "ever" ? null : values.window,
    timezone: values.timezone,
    on_unknown_price: values["unknown-price"],
    alerts: values.alert?.map((fraction) => numberIn(fraction, "alert")),
  };
}

const commands: Readonly<Record<string, (service: Service) => Promise<void>>> = {
  async list(service) {
    const { budgets } = await service.ask<{ budgets: readonly ListedBudget[] }>("POST", "/budget/query", {
      project_id: values.project,
    });
    console.table(
      budgets.map(({ limit, spent, held, window, resets_at, ...budget }) => ({
        id: budget.id,
        name: budget.name ?? "",
        scope: budget.scope,
        match: budget.match,
        ...Object.fromEntries(
          UNITS.map((unit) => [
            unit,
            limit[unit] === null ? "" : `${spent[unit]} + ${held[unit]} of ${limit[unit]}`,
          ]),
        ),
        window: window ?? "ever",
        resets_at: resets_at ?? "",
      })),
    );
  },
  async create(service) {
    const scope = values.scope ?? "project";
    const body = { ...membersOf(), scope, match: values.match };
    const { id: created } = await service.ask<{ id: string }>("POST", "/budget/create", {
      limit: {},
      ...body,
    });
    console.log(created);
  },
  async update(service) {
    if (values.scope !== undefined || values.match !== undefined)
      throw new Error("Scope and match stay: delete the budget and create another.");
    await service.ask("POST", "/budget/update", { ...membersOf(), id });
    console.log("Changed. Replicas follow within a second.");
  },
  async delete(service) {
    await service.ask("POST", "/budget/delete", { project_id: values.project, id });
    console.log("Deleted.");
  },
};

const [name = "", id] = positionals;
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
const needsId = name === "update" || name === "delete";
if (values.help === true) {
  console.log(USAGE);
  process.exit(0);
}
if (command === undefined || values.project === undefined || positionals.length !== (needsId ? 2 : 1)) {
  console.error(USAGE);
  process.exit(2);
}
await orExit(async (config) => {
  const service = await openService(config, { url: values.url, mayMake: false });
  try {
    await command(service);
  } finally {
    await service.close();
  }
});
