import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FeedbackChange, FeedbackColumns } from "../../../src/feedback/feedback-row.ts";
import { planRepair, planWrite, type NewRow, type StoredRow } from "../../../src/feedback/write-plan.ts";
import type { Project } from "../../../src/shared/project.ts";

const project = "acme/plan" as Project;
const columns = { feedback_type: "custom" } as FeedbackColumns;

function change(id: string, kind: "new" | "kept" | "set" | "purge", us: number): FeedbackChange {
  return kind === "purge"
    ? { project, id, columns: undefined, time: { kind: "kept", us }, bytes: 1 }
    : { project, id, columns, time: { kind, us }, bytes: 1 };
}

/** In-memory store: the highest version of a key wins. */
class Store {
  readonly #rows = new Map<string, StoredRow>();
  add(rows: readonly NewRow[]): void {
    for (const { columns, ...row } of rows) {
      const key = `${row.id} ${row.createdAtUs}`;
      const before = this.#rows.get(key);
      if (before !== undefined && before.version > row.version) continue;
      this.#rows.set(key, { ...row, deleted: columns === undefined });
    }
  }
  rows(): readonly StoredRow[] {
    return [...this.#rows.values()];
  }
  live(id: string): readonly number[] {
    return this.rows().flatMap((row) => (row.id === id && !row.deleted ? row.createdAtUs : []));
  }
}

describe("planWrite", () => {
  it("writes a higher version than a replica whose clock runs ahead", () => {
    const stored: StoredRow = { project, id: "a", createdAtUs: 1000, version: 900, deleted: false };
    expect(planWrite([change("a", "kept", 1)], [stored], 5).rows[0]?.version).toBe(901);
  });

  it("leaves one row for each id that is not purged, for any changes in any batches", () => {
    const step = fc.record({
      id: fc.constantFrom("a", "b"),
      kind: fc.constantFrom("kept", "set", "purge"),
      ms: fc.integer({ min: 0, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 6 }), (batches) => {
        const store = new Store();
        const expected = new Map<string, number | undefined>();
        batches.forEach((batch, version) => {
          const changes = batch.map(({ id, kind, ms }) => change(id, kind, ms));
          store.add(planWrite(changes, store.rows(), version).rows);
          for (const { id, kind, ms } of batch) {
            if (kind === "purge") expected.set(id, undefined);
            else expected.set(id, kind === "set" ? ms : (expected.get(id) ?? ms));
          }
        });
        for (const id of ["a", "b"]) {
          const time = expected.get(id);
          expect(store.live(id)).toEqual(time === undefined ? [] : [time]);
        }
      }),
    );
  });
});

describe("planRepair", () => {
  it("keeps the newest of two rows of an id, the same one on every replica", () => {
    const rows: StoredRow[] = [
      { project, id: "a", createdAtUs: 1, version: 7, deleted: false },
      { project, id: "a", createdAtUs: 2, version: 8, deleted: false },
      { project, id: "b", createdAtUs: 2, version: 3, deleted: false },
      { project, id: "b", createdAtUs: 1, version: 3, deleted: false },
      { project, id: "c", createdAtUs: 1, version: 3, deleted: false },
      { project, id: "c", createdAtUs: 2, version: 4, deleted: true },
    ];
    const deleted = [
      { project, id: "a", createdAtUs: 1, version: 8, columns: undefined },
      { project, id: "b", createdAtUs: 2, version: 4, columns: undefined },
    ];
    expect(planRepair(rows)).toEqual(deleted);
    expect(planRepair(rows.toReversed())).toEqual(expect.arrayContaining(deleted));
  });
});
