import type { Engine } from "../../store/engine.ts";
import { sql } from "../../query/sql.ts";
import type { Clock } from "../../shared/clock.ts";

/** Last use of each key, buffered in memory and written periodically, so that a request costs no write. */
export interface KeyLastUsed {
  note(keyId: string): void;
  /** Writes the uses since the last call. */
  flush(): Promise<void>;
  /** Last use by key id in milliseconds since the epoch, unwritten uses included. */
  all(): Promise<ReadonlyMap<string, number>>;
}

interface UseRow {
  readonly id: string;
  readonly last_used_at_ms: number;
}

export function createKeyUses(engine: Engine, clock: Clock): KeyLastUsed {
  let noted = new Map<string, number>();
  return {
    note: (keyId) => noted.set(keyId, clock.now()),
    async flush() {
      if (noted.size === 0) return;
      const written = noted;
      noted = new Map();
      const rows = [...written].map(([id, usedAtMs]): UseRow => ({ id, last_used_at_ms: usedAtMs }));
      try {
        await engine.insert("api_key_last_used", rows, { name: "api_key_uses_add" });
      } catch (error) {
        noted = new Map([...written, ...noted]);
        throw error;
      }
    },
    async all() {
      const rows = await engine.rows<UseRow>(
        sql`SELECT id, max(last_used_at_ms) AS last_used_at_ms FROM api_key_last_used GROUP BY id`,
        { name: "api_key_last_used" },
      );
      return new Map([...rows.map((row): [string, number] => [row.id, row.last_used_at_ms]), ...noted]);
    },
  };
}
