import { randomUUID } from "node:crypto";
import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import { amountsBy, NOTHING, type Amounts, type Unit } from "./budget.ts";
import type { AccountKey } from "./account-key.ts";
import { decimalUsd, parseUsd } from "./usd.ts";

/** State of an account that a claim starts from. */
export interface ClaimedState {
  /** Recorded usage, read after the claims of the others. */
  readonly spent: Amounts;
  /** Usage of this service that may not be recorded. */
  readonly own: Amounts;
}

/**
 * Divides what is left of a budget among services that share a store. Each claims an equal part for a few seconds before it
 * uses it, so that all together never use more. Errors: `StorageError`.
 */
export interface Claims {
  /** The sum of the other services' claims; read it before what is spent, so that nothing is missed that is stored meanwhile. */
  ofOthers(key: AccountKey): Promise<Amounts>;
  /** Claims a part of what is left; returns what is left to the others. `onShrink` is called before others may use it. */
  claim(
    key: AccountKey,
    state: ClaimedState & { readonly others: Amounts },
    onShrink: (reserved: Amounts) => void,
  ): Promise<Amounts>;
}

/** Age at which a claim of a service that has stopped is void. */
const LIFETIME_SECONDS = 20;
const TABLE = "budget_claims";

/** The claims of a service that is alone. */
export const NO_CLAIMS: Claims = { ofOthers: async () => NOTHING, claim: async () => NOTHING };

export function createClaims(engine: Engine, replicas: number): Claims {
  if (replicas <= 1) return NO_CLAIMS;
  const service = randomUUID();
  let version = Date.now() * 1000;
  const ofOthers = async (key: AccountKey): Promise<Amounts> => {
    const [row] = await engine.rows<{ usd: string; tokens: number; requests: number }>(
      sql`SELECT toString(sum(usd)) AS usd, sum(tokens) AS tokens, sum(requests) AS requests
          FROM budget_claims FINAL
          WHERE ${isOf(key)} AND service != ${param("String", service)}
            AND claimed_at > now64(3) - INTERVAL ${param("UInt32", LIFETIME_SECONDS)} SECOND`,
      { name: "budget_claims_read", limits: "ingest", synced: TABLE },
    );
    return { usd: parseUsd(row!.usd), tokens: row!.tokens, requests: row!.requests };
  };
  return {
    ofOthers,
    async claim(key, { spent, own, others }, onShrink) {
      const claimed = amountsBy((unit) => {
        const left = leftOf(key, { unit, spent, taken: [own, others] });
        return BigInt(own[unit]) + left / BigInt(replicas);
      });
      onShrink(reservedOf(key, spent, claimed));
      const { usd, ...counts } = claimed;
      const row = { ...nameOf(key), service, usd: decimalUsd(usd), ...counts, version: ++version };
      await engine.insert(TABLE, [row], { name: "budget_claim" });
      // another service may have claimed the same meanwhile: whoever reads last sees both
      const now = await ofOthers(key);
      const sure = amountsBy((unit) => {
        const left = leftOf(key, { unit, spent, taken: [now] });
        return left < BigInt(claimed[unit]) ? left : BigInt(claimed[unit]);
      });
      return reservedOf(key, spent, sure);
    },
  };
}

function isOf(key: AccountKey): Sql {
  const { project_id, budget, window_start, value } = nameOf(key);
  return sql`project_id = ${param("String", project_id)} AND budget = ${param("String", budget)}
    AND window_start = ${param("Int64", window_start)} AND value = ${param("String", value)}`;
}

function nameOf({ budget, value, window }: AccountKey) {
  return {
    project_id: budget.project,
    budget: budget.id,
    window_start: window.startUs,
    value: value ?? "",
  };
}

interface Taken {
  readonly unit: Unit;
  readonly spent: Amounts;
  readonly taken: readonly Amounts[];
}

/** Returns the rest of a limit, at least 0; 0 without a limit. */
function leftOf({ budget }: AccountKey, { unit, spent, taken }: Taken): bigint {
  const used = [spent, ...taken].reduce((sum, one) => sum + BigInt(one[unit]), 0n);
  const left = BigInt(budget.limit[unit] ?? 0) - used;
  return left > 0n ? left : 0n;
}

/** Returns the amounts that a claim leaves to the others. */
function reservedOf(key: AccountKey, spent: Amounts, claimed: Amounts): Amounts {
  return amountsBy((unit) => leftOf(key, { unit, spent, taken: [claimed] }));
}
