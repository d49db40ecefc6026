import type { Account } from "./account.ts";
import { NOTHING, plus, type Amounts } from "./budget.ts";
import { isModelOf } from "./model-name.ts";
import type { AccountKey } from "./account-key.ts";
import type { Spending } from "./spending.ts";

/** Usage of an ended request by the model that served it. */
export type UsedByModel = readonly (Amounts & { readonly llm: string })[];

interface Part {
  readonly key: AccountKey;
  readonly account: Account;
  readonly amounts: Amounts;
  used: Amounts | undefined;
}

/** Circumstances of an admission that decide which accounts it needs. */
export interface HeldUnder {
  /** `BudgetStore.writes` when it was admitted. */
  readonly budgetWrites: number;
  readonly hasTraceLimit: boolean;
  /** The model that was asked for; null if the project has no budgets by model. */
  readonly llm: string | null;
}

/** The worst case of a request, held in the accounts of all its budgets until its call is stored. */
export class Hold {
  readonly #spending: Spending;
  readonly #parts: readonly Part[];
  readonly #under: HeldUnder;
  /** Records of the request that the store does not have yet. */
  #unstored = 0;
  #isOver = false;

  constructor(
    spending: Spending,
    parts: readonly { readonly key: AccountKey; readonly account: Account; readonly amounts: Amounts }[],
    under: HeldUnder,
  ) {
    this.#spending = spending;
    this.#under = under;
    this.#parts = parts.map((part) => ({ ...part, used: undefined }));
    for (const { key, account, amounts } of this.#parts) {
      account.hold(amounts);
      spending.pin(key, account);
    }
  }

  /** True if the accounts of this hold are all that the usage of its request belongs to. */
  hasAllOf(used: UsedByModel, { budgetWrites, hasTraceLimit }: Omit<HeldUnder, "llm">): boolean {
    const under = this.#under;
    if (under.budgetWrites !== budgetWrites || (hasTraceLimit && !under.hasTraceLimit)) return false;
    const { llm: asked } = under;
    return asked === null || used.every(({ llm }) => isModelOf(asked, llm) || isModelOf(llm, asked));
  }

  /** Replaces the worst case by what the request has used, or corrects that. Call `store` when the store has it. */
  end(used: UsedByModel): void {
    this.#unstored++;
    if (this.#isOver) return;
    for (const part of this.#parts) {
      const { key, account, amounts, used: before } = part;
      part.used = used
        .filter(({ llm }) => key.budget.scope !== "llm" || isModelOf(key.value!, llm))
        .reduce<Amounts>(plus, NOTHING);
      if (before === undefined) account.end(amounts, part.used);
      else account.correct(before, part.used);
    }
  }

  /** Call once for each `end`. */
  store(): void {
    this.#unstored--;
    if (this.#unstored === 0) this.#close();
  }

  /** Ends a hold whose request has not been sent. */
  release(): void {
    if (this.#isOver || this.#unstored > 0) return;
    this.end([]);
    this.store();
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const { key, account, used } of this.#parts) {
      account.store(used ?? NOTHING);
      this.#spending.unpin(key, account);
    }
  }
}
