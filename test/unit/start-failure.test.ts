import { describe, expect, it } from "vitest";
import { StorageError } from "../../src/store/storage-error.ts";
import { readConfig } from "../../src/config.ts";
import { describeStartFailure } from "../../src/start-failure.ts";

describe("a start on a full disk", () => {
  const full = new StorageError("no_space", "carry_copy", "243", "Cannot reserve 1.00 MiB");
  const remedy =
    "Free some space and start again: no data is lost, and an upgrade continues where it stopped.";

  it("names the directory of the embedded store", () => {
    expect(describeStartFailure(full, readConfig({ DATA_DIR: "/data" }))).toBe(
      `Sumtree could not start: the disk of DATA_DIR /data is full. ${remedy}`,
    );
  });

  it("names the host of a server, and not its password", () => {
    const config = readConfig({ CLICKHOUSE_URL: "http://u:secret@ch:8123/db", ROOT_API_KEY: "k".repeat(40) });
    expect(describeStartFailure(full, config)).toBe(
      `Sumtree could not start: ClickHouse at ch:8123 has a full disk. ${remedy}`,
    );
  });
});
