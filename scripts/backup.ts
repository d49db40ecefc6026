import { argumentsOr, orExit } from "./command-line.ts";
import { openService } from "./service.ts";

const USAGE = `Copy the embedded store into a new directory in BACKUP_DIR, while the service runs or not.

  npm run backup [-- --url <url>]`;

const { values, positionals } = argumentsOr(USAGE, {
  url: { type: "string" },
  help: { type: "boolean", short: "h" },
});
if (values.help === true || positionals.length > 0) {
  console.log(USAGE);
  process.exit(values.help === true ? 0 : 2);
}

interface Backup {
  readonly path: string;
  readonly started_at: string;
  readonly seconds: number;
  readonly bytes: number;
}

await orExit(async (config) => {
  const service = await openService(config, { url: values.url, mayMake: false });
  try {
    const { path, bytes, seconds, started_at } = await service.ask<Backup>("POST", "/backups");
    console.error(`${(bytes / 1e6).toFixed(1)} MB in ${seconds} s, of what was there at ${started_at}:`);
    console.log(path);
  } finally {
    await service.close();
  }
});
