import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readMigrations, statementsOf } from "../../src/store/schema/migrations.ts";
import { readConfig } from "../../src/config.ts";
import { param, sql } from "../../src/query/sql.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: object;
  readonly healthcheck?: object;
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

let test: TestEngine;
beforeAll(async () => {
  test = await startEngine();
});
afterAll(() => test.close());

describe.each(["docker-compose.yml", "docker-compose.cluster.yml"])("%s", (file) => {
  const compose = parse(read(file), { merge: true }) as Compose;
  const services = Object.entries(compose.services);

  it("runs the version of ClickHouse of the tests", async () => {
    const version = (await test.engine.version()).split(".").slice(0, 2).join(".");
    const images = services.flatMap(([, service]) => service.image ?? []);
    expect(images.length).toBeGreaterThan(0);
    for (const image of images)
      expect(image).toMatch(new RegExp(`^clickhouse/clickhouse-(server|keeper):${version}$`));
  });

  it("mounts existing files and declared volumes", () => {
    for (const source of services
      .flatMap(([, service]) => service.volumes ?? [])
      .map((volume) => volume.split(":")[0]!)) {
      if (source.startsWith(".")) expect(existsSync(join(ROOT, source)), source).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
  });

  it("passes only known settings to the service", () => {
    const ours = services.filter(([, service]) => service.build !== undefined);
    expect(ours.length).toBeGreaterThan(0);
    for (const [, service] of ours) {
      const settings = Object.fromEntries(
        Object.entries(service.environment).map(([name, value]) => [
          name,
          value.replaceAll(/\$\{\w+(:\?[^}]*)?\}/g, "0123456789abcdef0123456789abcdef"),
        ]),
      );
      expect(() => readConfig(settings)).not.toThrow();
    }
  });
});

describe("Dockerfile", () => {
  const lines = read("Dockerfile").split("\n");
  it("copies only files that .dockerignore allows, and does not run as root", () => {
    const allowed = new Set(
      read(".dockerignore")
        .split("\n")
        .filter((line) => line.startsWith("!"))
        .map((line) => line.slice(1)),
    );
    const copied = lines
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(copied.length).toBeGreaterThan(0);
    for (const path of copied) {
      expect(allowed.has(path) || allowed.has(path.split("/")[0]!), path).toBe(true);
      expect(existsSync(join(ROOT, path)), path).toBe(true);
    }
    expect(lines.filter((line) => line.startsWith("USER ")).at(-1)).toBe("USER node");
  });

  it("contains the major version of Node that the project requires", () => {
    for (const line of lines.filter((one) => one.startsWith("FROM ")))
      expect(line).toContain(`node:${read(".nvmrc").trim()}-`);
  });
});

describe("migrations", () => {
  const both = [undefined, "sumtree"].flatMap((cluster) =>
    readMigrations().map((migration) => ({ cluster, migration })),
  );
  it.each(both)("$migration.name is SQL for cluster $cluster", async ({ cluster, migration }) => {
    for (const statement of statementsOf(migration, { cluster })) {
      expect(statement).not.toContain("{{");
      const [row] = await test.engine.rows<{ formatted: string }>(
        sql`SELECT formatQuery(${param("String", statement)}) AS formatted`,
        { name: "test" },
      );
      if (statement.startsWith("CREATE TABLE")) {
        expect(row!.formatted).toMatch(
          cluster === undefined ? /ENGINE = (?!Replicated)/ : /ON CLUSTER [\s\S]*ENGINE = Replicated/,
        );
      }
    }
  });
});
