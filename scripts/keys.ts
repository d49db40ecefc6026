import { parseArgs } from "node:util";
import { ConfigError, readConfig } from "../src/config.ts";
import { openService, type Service } from "./keys/service.ts";

const USAGE = `Manage API keys.

  npm run keys -- list
  npm run keys -- create --name <text> --scope <scope>… --project <project>… [--expires <instant>]
  npm run keys -- revoke <id>

Scopes: ingest, read, train, admin. Projects: *, entity/* or entity/project.
A new key is printed once, on the last line. Without a running service the store is opened directly;
--url <url> or a service that runs on DATA_DIR is asked instead, with ROOT_API_KEY or the key kept in DATA_DIR.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    name: { type: "string" },
    scope: { type: "string", multiple: true },
    project: { type: "string", multiple: true },
    expires: { type: "string" },
    url: { type: "string" },
    help: { type: "boolean" },
  },
});

interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly projects: readonly string[];
  readonly expires_at: string | null;
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
    await service.ask("DELETE", `/api-keys/${encodeURIComponent(positionals[1] ?? "")}`);
    console.log("Revoked. Replicas forget it within ten seconds.");
  },
};

const command = commands[positionals[0] ?? ""];
if (command === undefined || values.help === true) {
  console.log(USAGE);
  process.exit(values.help === true ? 0 : 2);
}
try {
  const service = await openService(readConfig(), values.url);
  try {
    await command(service);
  } finally {
    await service.close();
  }
} catch (error) {
  console.error(error instanceof ConfigError || error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
