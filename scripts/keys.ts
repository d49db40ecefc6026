import { argumentsOr, orExit } from "./command-line.ts";
import { openService, type Service } from "./service.ts";

const USAGE = `Manage API keys.

  npm run keys -- list
  npm run keys -- create --name <text> --scope <scope>… --project <project>… [--expires <instant>]
  npm run keys -- revoke <id>

Scopes: ingest, read, train, prices, calls:delete, admin. Projects: *, entity/* or entity/project.
A new key is printed once, on the last line. The command talks to the service that runs on DATA_DIR, or to the one at --url <url>,
with ROOT_API_KEY or the key kept in DATA_DIR. When none runs, the store is opened directly.`;

const { values, positionals } = argumentsOr(USAGE, {
  name: { type: "string" },
  scope: { type: "string", multiple: true },
  project: { type: "string", multiple: true },
  expires: { type: "string" },
  url: { type: "string" },
  help: { type: "boolean", short: "h" },
});

interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly projects: readonly string[];
  readonly expires_at: string | null;
  readonly created_by: string;
  readonly last_used_at: string | null;
}

const commands: Readonly<Record<string, (service: Service) => Promise<void>>> = {
  async list(service) {
    const { api_keys } = await service.ask<{ api_keys: readonly ListedKey[] }>("GET", "/api-keys");
    console.table(
      api_keys.map(({ scopes, projects, ...key }) => ({
        ...key,
        scopes: scopes.join(" "),
        projects: projects.join(" "),
      })),
    );
  },
  async create(service) {
    const { key } = await service.ask<{ key: string }>("POST", "/api-keys", {
      name: values.name,
      scopes: values.scope,
      projects: values.project,
      expires_at: values.expires,
    });
    console.log(key);
  },
  async revoke(service) {
    if (id === undefined) throw new Error("Which key? `list` shows their ids.");
    await service.ask("DELETE", `/api-keys/${encodeURIComponent(id)}`);
    console.log("Revoked, with the keys that it made. Replicas forget them within ten seconds.");
  },
};

const [name = "", id] = positionals;
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (values.help === true) {
  console.log(USAGE);
  process.exit(0);
}
if (command === undefined || positionals.length > (name === "revoke" ? 2 : 1)) {
  console.error(USAGE);
  process.exit(2);
}
await orExit(async (config) => {
  const service = await openService(config, { url: values.url, mayMake: name === "create" });
  try {
    await command(service);
  } finally {
    await service.close();
  }
});
