import { describe, expect, it } from "vitest";
import { onCluster } from "../../../../src/store/schema/recreate-tables.ts";

describe("a CREATE TABLE statement", () => {
  const uuid = "UUID '667b3c9f-5df8-4d37-b573-7583bb88095e'";
  it.each([
    [
      `CREATE TABLE s.t ${uuid} (\`a\` UInt64) ENGINE = ReplicatedMergeTree('/x', '{replica}') ORDER BY a`,
      `CREATE TABLE IF NOT EXISTS s.t ${uuid} ON CLUSTER 'c' (\`a\` UInt64) ENGINE = ReplicatedMergeTree('/x', '{replica}') ORDER BY a`,
    ],
    ["CREATE TABLE s.t (a UInt64)", "CREATE TABLE IF NOT EXISTS s.t ON CLUSTER 'c' (a UInt64)"],
  ])("is rewritten for the cluster with the same UUID: %s", (statement, expected) => {
    expect(onCluster(statement, "c")).toBe(expected);
  });
});
