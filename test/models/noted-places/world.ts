import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeBackup } from "../../../src/admin/backups/make-backup.ts";
import { openEmbedded } from "../../../src/store/connect.ts";
import type { Engine } from "../../../src/store/engine.ts";
import { migrate } from "../../../src/store/schema/migrate.ts";
import { rebuildLedger } from "../../../src/ledger/check-ledger.ts";
import { createMutations } from "../../../src/admin/projects/mutations.ts";
import { deleteExpired } from "../../../src/admin/projects/retention.ts";
import type { RetentionAudit } from "../../../src/admin/projects/retention-audit.ts";
import { trusted } from "../../../src/query/sql.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { startAppOn, type TestApp } from "../../helpers/start-app.ts";
import { until } from "../../helpers/until.ts";

const settings = {
  INGEST_LINGER_MS: "1",
  RATE_LIMIT_PER_MINUTE: "1000000000",
  KEY_MAX_CONCURRENT: "100000",
  MAX_EVENT_LOOP_DELAY_MS: "60000",
};

/** Two services on one embedded store, which can be closed and opened again, and put back to what it was. */
export class World {
  readonly #root: string;
  #dir: string;
  #engine: Engine;
  #apps: readonly TestApp[] = [];
  #backup: string | undefined;

  private constructor(root: string, dir: string, engine: Engine) {
    this.#root = root;
    this.#dir = dir;
    this.#engine = engine;
  }

  static async open(): Promise<World> {
    const root = await mkdtemp(join(tmpdir(), "sumtree-places-"));
    const dir = join(root, "first");
    const world = new World(root, dir, await openEmbedded(dir, { backupDir: root }));
    await world.#serve();
    return world;
  }

  get engine(): Engine {
    return this.#engine;
  }

  app(which: 0 | 1): TestApp {
    return this.#apps[which]!;
  }

  async #serve(): Promise<void> {
    await migrate(this.#engine, { cluster: undefined });
    this.#apps = [await startAppOn(this.#engine, { settings }), await startAppOn(this.#engine, { settings })];
  }

  async #stop(): Promise<void> {
    for (const app of this.#apps) await app.close();
    this.#apps = [];
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.#engine.close();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async restart(): Promise<void> {
    await this.#stop();
    await this.#engine.close();
    this.#engine = await openEmbedded(this.#dir, { backupDir: this.#root });
    await this.#serve();
  }

  /** As `npm run ledger -- rebuild` does, while nobody serves. */
  async rebuild(): Promise<void> {
    await this.#stop();
    const { signal } = new AbortController();
    await rebuildLedger({ engine: this.#engine, whileNoInsertRuns: (work) => work(), signal });
    await this.#serve();
  }

  async backUp(): Promise<void> {
    const dir = await mkdtemp(join(this.#root, "backup-"));
    const { path } = await makeBackup({ engine: this.#engine, dir, clock: systemClock });
    this.#backup = path;
  }

  /** As `npm run restore` does: into a new directory, which is served from then on. */
  async restore(): Promise<void> {
    await this.#stop();
    await this.#engine.close();
    rmSync(this.#dir, { recursive: true, force: true });
    this.#dir = await mkdtemp(join(this.#root, "restored-"));
    this.#engine = await openEmbedded(this.#dir, { backupDir: this.#root });
    const from = `RESTORE DATABASE default FROM File('${this.#backup!}') SETTINGS allow_different_database_def = 1`;
    await this.#engine.command(trusted(from), { name: "restore", limits: "maintenance" });
    await this.#serve();
  }

  /** Deletes what is older than what the projects keep, as the job of the service does. */
  async expire(): Promise<void> {
    const mutations = createMutations(this.#engine, undefined);
    await until(async () => !(await mutations.areRunning("retention")));
    const whileNoInsertRuns = <Result>(work: () => Promise<Result>): Promise<Result> => work();
    const audit: RetentionAudit = (_projects, _details, work) => work();
    await deleteExpired({ engine: this.#engine, mutations, clock: systemClock, whileNoInsertRuns, audit });
  }
}
