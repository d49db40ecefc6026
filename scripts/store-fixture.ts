import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { senderTo, comparable, seedFixture, FIXTURE_QUERIES } from "../test/helpers/store-fixture.ts";
import { startProcess } from "../test/helpers/service-process.ts";
import { ROOT_KEY } from "../test/helpers/start-app.ts";

/**
 * Makes the store that tests of later versions open: a service of this version stores something of every kind and answers
 * questions about it. Its DATA_DIR and the answers become `test/fixtures/stores/1.0`.
 */
const fixture = join(import.meta.dirname, "../test/fixtures/stores/1.0");
const dir = mkdtempSync(join(tmpdir(), "sumtree-store-fixture-"));
const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };

const service = await startProcess(settings);
await seedFixture(senderTo(service.url));
await service.end("SIGTERM");
execFileSync(process.execPath, [join(import.meta.dirname, "usage-rollup.ts"), "rebuild"], {
  env: { ...process.env, ...settings },
  stdio: "inherit",
});
const again = await startProcess(settings);
const responses: object[] = [];
for (const { path, body } of FIXTURE_QUERIES) {
  const response = comparable(path, await (await senderTo(again.url)(path, body)).text());
  responses.push({ path, body, answer: response });
}
await again.end("SIGTERM");

mkdirSync(fixture, { recursive: true });
execFileSync("tar", ["-C", dir, "-czf", join(fixture, "store.tgz"), "."]);
writeFileSync(join(fixture, "answers.json.gz"), gzipSync(JSON.stringify(responses)));
rmSync(dir, { recursive: true });
