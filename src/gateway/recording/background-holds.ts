import type { BudgetedRequest } from "../../budgets/budgets.ts";
import type { Hold } from "../../budgets/hold.ts";
import type { Journal, OrphanedRecord, RecordId } from "../../journal/journal.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";

/** A hold, and the prices for what replaces it. */
export interface PricedHold {
  readonly hold: Hold;
  readonly book: PriceBook;
  readonly request: BudgetedRequest;
}

/** Key of these records in the journal. */
const PREFIX = "hold/";
/** Providers keep background responses for less. */
const MAX_AGE_MS = 24 * 3_600_000;

export function isHoldRecord(key: string): boolean {
  return key.startsWith(PREFIX);
}

interface Kept extends PricedHold {
  readonly recordId: RecordId | undefined;
}

/** Holds of responses that run on in the background, by the id of their call; kept in the journal over restarts. */
export class BackgroundHolds {
  readonly #journal: Journal | undefined;
  readonly #kept = new Map<string, Kept>();
  /** Records of the process before. */
  readonly #left: OrphanedRecord[];
  readonly #resume: (request: BudgetedRequest) => Promise<PricedHold | undefined>;
  #resuming: Promise<void> | undefined;

  constructor(
    journal: Journal | undefined,
    resume: (request: BudgetedRequest) => Promise<PricedHold | undefined>,
  ) {
    this.#journal = journal;
    this.#left = (journal?.orphaned ?? []).filter(({ key }) => isHoldRecord(key));
    this.#resume = resume;
  }

  /** Resolves when the holds of the process before are resumed; drops those that are too old. Errors: `StorageError`. */
  async resume(nowMs: number): Promise<void> {
    this.#dropOld(nowMs - MAX_AGE_MS);
    if (this.#left.length === 0) return;
    await (this.#resuming ??= this.#resumeLeft().finally(() => (this.#resuming = undefined)));
  }

  async #resumeLeft(): Promise<void> {
    for (let [one] = this.#left; one !== undefined; [one] = this.#left) {
      const request = requestIn(this.#journal?.read(one.id) ?? "");
      const held = request && (await this.#resume(request));
      if (this.#left[0] !== one) {
        // its end was seen meanwhile
        held?.hold.release();
        continue;
      }
      this.#left.shift();
      if (held === undefined) this.#journal?.remove([one.id]);
      else this.#kept.set(one.key.slice(PREFIX.length), { ...held, recordId: one.id });
    }
  }

  keep(callId: string, held: PricedHold): void {
    const [recordId] = this.#journal?.add([{ key: PREFIX + callId, text: textOf(held.request) }]) ?? [];
    this.#kept.set(callId, { ...held, recordId });
  }

  /** Returns the hold of a call that has ended, and forgets it. */
  take(callId: string): PricedHold | undefined {
    const at = this.#left.findIndex(({ key }) => key === PREFIX + callId);
    if (at !== -1) this.#journal?.remove(this.#left.splice(at, 1).map(({ id }) => id));
    const kept = this.#kept.get(callId);
    this.#kept.delete(callId);
    if (kept?.recordId !== undefined) this.#journal?.remove([kept.recordId]);
    return kept;
  }

  #dropOld(beforeMs: number): void {
    for (const [callId, { request }] of this.#kept) {
      if (request.startedAtMs >= beforeMs) return;
      this.take(callId)?.hold.release();
    }
  }
}

function textOf({ worstCase: { usd, tokens }, ...request }: BudgetedRequest): string {
  return JSON.stringify({ ...request, worstCase: { usd: usd === null ? null : String(usd), tokens } });
}

/** Parses what `textOf` prints; undefined if it is damaged. */
function requestIn(text: string): BudgetedRequest | undefined {
  const parsed = parseOrUndefined(text);
  if (!isJsonObject(parsed)) return undefined;
  const { worstCase, ...request } = parsed as unknown as BudgetedRequest & {
    readonly worstCase: { readonly usd: string | null; readonly tokens: number };
  };
  const { usd, tokens } = worstCase;
  return { ...request, worstCase: { usd: usd === null ? null : BigInt(usd), tokens } };
}
