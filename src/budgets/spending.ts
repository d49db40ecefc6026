import { LRUCache } from "lru-cache";
import { openZone } from "../buckets/zone.ts";
import type { TimeWindow } from "../buckets/buckets.ts";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";
import { Account, heldBeside } from "./account.ts";
import type { AccountKey } from "./account-key.ts";
import type { Claims } from "./claims.ts";
import { EACH, isNothing, NOTHING, type Budget } from "./budget.ts";
import type { BudgetState } from "./budget-state.ts";
import type { ProjectChanges } from "./project-changes.ts";
import { NOTHING_SPENT, type Spent, type SpentReader } from "./spent.ts";
import { windowOf } from "./window-of.ts";

const MAX_IDLE = 20_000;
/** Age at which a sum is read again: of a store with other writers, and of one without. */
const MAX_SHARED_AGE_MS = 1000;
const MAX_AGE_MS = 10_000;
/** Sums of a project that take longer to read than `SLOW_MS` are read for at most a tenth of the time. */
const SLOW_MS = 500;
const PAUSE = 10;

interface SpendingDeps {
  readonly reader: SpentReader;
  readonly changes: ProjectChanges;
  readonly claims: Claims;
  /** Wall clock for windows, monotonic clock for ages. */
  readonly clock: Clock;
  readonly steady: Clock;
}

/** Accounts of all budgets: recorded usage, read from the store and kept current, and what open requests hold. */
export class Spending {
  readonly #deps: SpendingDeps;
  readonly #idle = new LRUCache<string, Account>({ max: MAX_IDLE });
  /** The last window of each: finding one takes longer than all else that a request needs. */
  readonly #windows = new WeakMap<Budget, TimeWindow>();
  /** When sums of a project may be read again after changes. */
  readonly #restUntilMs = new LRUCache<Project, number>({ max: MAX_IDLE });
  /** Accounts with open requests, which must not be forgotten. */
  readonly #open = new Map<string, { readonly key: AccountKey; readonly account: Account }>();

  constructor(deps: SpendingDeps) {
    this.#deps = deps;
  }

  keyOf(budget: Budget, value: string | null, atMs: number): AccountKey {
    const known = this.#windows.get(budget);
    if (known !== undefined && known.startUs <= atMs * 1000 && atMs * 1000 < known.endUs)
      return { budget, value, window: known };
    const window = windowOf(budget.window, atMs, openZone(budget.timezone)!);
    this.#windows.set(budget, window);
    return { budget, value, window };
  }

  /** Returns the current window of a budget. */
  windowOf(budget: Budget): TimeWindow {
    return this.keyOf(budget, null, this.#deps.clock.now()).window;
  }

  /** Returns the account of a key. `isNew`: nothing can be recorded for its value yet. */
  account(key: AccountKey, isNew = false): Account {
    const text = textOf(key);
    const known = this.#open.get(text)?.account ?? this.#idle.get(text);
    if (known !== undefined) return known;
    const account = new Account();
    if (isNew) account.startEmpty(this.#readState(key.budget.project), NOTHING_SPENT);
    this.#idle.set(text, account);
    return account;
  }

  /** Lets the sums of a project be read again. */
  changed(project: Project): void {
    this.#deps.changes.note(project);
  }

  /** Keeps the account of a key while it has open requests. */
  pin(key: AccountKey, account: Account): void {
    this.#open.set(textOf(key), { key, account });
  }

  unpin(key: AccountKey, account: Account): void {
    if (account.open > 0) return;
    this.#open.delete(textOf(key));
    this.#idle.set(textOf(key), account);
  }

  /** Reads what is spent, unless it is known. Throws store_unavailable if it cannot be read. */
  async refresh(key: AccountKey, account: Account): Promise<void> {
    if (!this.#isStale(key, account)) return;
    // one that is under way may have begun before the change
    await account.reading?.catch(() => undefined);
    if (this.#isStale(key, account)) await this.#read(key, account);
  }

  /**
   * Reads what is spent again if requests of this process have been stored since, which may count twice, or if it is old: of
   * retention, nobody tells. Throws store_unavailable if it cannot be read.
   */
  async settle(key: AccountKey, account: Account): Promise<void> {
    const isDoubtful = (): boolean => account.isApproximate || this.#ageMs(account) > MAX_AGE_MS;
    if (!isDoubtful()) return;
    // one that is under way may have begun before
    await account.reading?.catch(() => undefined);
    if (isDoubtful()) await this.#read(key, account);
  }

  /** Returns the spent and held amounts, for each value that has any if the budget is for each. Errors: those of `SpentReader`. */
  async statesOf(budget: Budget, reader = this.#deps.reader): Promise<readonly BudgetState[]> {
    const { clock } = this.#deps;
    const key = this.keyOf(budget, budget.match, clock.now());
    if (budget.scope === "project" || budget.match !== EACH) {
      const value = budget.scope === "project" ? null : budget.match;
      return [this.#stateOf({ ...key, value }, await reader.of({ ...budget, window: key.window }, value))];
    }
    const spent = new Map(await reader.byValue({ ...budget, window: key.window }));
    for (const { key: open } of this.#open.values())
      if (open.budget.id === budget.id && open.value !== null && !spent.has(open.value))
        spent.set(open.value, NOTHING_SPENT);
    const states = [...spent].map(([value, one]) => this.#stateOf({ ...key, value }, one));
    // failed calls use nothing, and what is open may be of another window
    return states.filter((state) => !isNothing(state.spent) || !isNothing(state.held));
  }

  /** Reads the sums of all accounts with open requests again, so that their claims stay valid. */
  async renewClaims(): Promise<void> {
    const open = this.#open.values().toArray();
    for (const { key, account } of open) await this.#read(key, account);
  }

  #stateOf(key: AccountKey, { unpricedRequests, ...spent }: Spent): BudgetState {
    const { budget, value, window } = key;
    const { held = NOTHING, ended = NOTHING } = this.#open.get(textOf(key))?.account ?? {};
    return {
      budget,
      value,
      window: { startUs: window.startUs, endUs: budget.window === null ? null : window.endUs },
      spent,
      held: heldBeside(spent, { held, ended }, budget.limit),
      unpricedRequests,
    };
  }

  #readState(project: Project) {
    const { changes, steady } = this.#deps;
    return { change: changes.stateOf(project), beganAtMs: steady.now() };
  }

  #read(key: AccountKey, account: Account): Promise<void> {
    const { reader, claims, steady } = this.#deps;
    const { budget, value, window } = key;
    if (account.reading !== undefined) return account.reading;
    const state = this.#readState(budget.project);
    const read = async (): Promise<Spent> => {
      try {
        const others = await claims.ofOthers(key);
        const spent = await reader.of({ ...budget, window }, value);
        const readMs = steady.now() - state.beganAtMs;
        if (readMs >= SLOW_MS) this.#rest(budget.project, state.beganAtMs + PAUSE * readMs);
        const claimed = { spent, own: account.unrecorded, others };
        account.reserved = await claims.claim(key, claimed, (reserved) => account.reserve(reserved));
        return spent;
      } catch (cause) {
        const wait = { cause, retryAfterSeconds: 5 };
        throw new AppError(
          "store_unavailable",
          "What is spent of a budget cannot be read. Retry later.",
          wait,
        );
      }
    };
    return account.read(state, read);
  }

  /** True if what is spent is unknown, or has been changed by others. */
  #isStale({ budget: { project } }: AccountKey, account: Account): boolean {
    const { changes, steady } = this.#deps;
    const { readState } = account;
    if (readState === undefined) return true;
    const ageMs = this.#ageMs(account);
    if (steady.now() < (this.#restUntilMs.get(project) ?? -Infinity))
      return changes.isShared && ageMs > MAX_AGE_MS;
    if (changes.isShared && ageMs > MAX_SHARED_AGE_MS) return true;
    return readState.change !== changes.stateOf(project);
  }

  #ageMs({ readState }: Account): number {
    return this.#deps.steady.now() - (readState?.beganAtMs ?? -Infinity);
  }

  #rest(project: Project, untilMs: number): void {
    this.#restUntilMs.set(project, Math.max(untilMs, this.#restUntilMs.get(project) ?? 0));
  }
}

function textOf({ budget, value, window }: AccountKey): string {
  return `${budget.project}\n${budget.id}\n${window.startUs}\n${value ?? ""}`;
}
