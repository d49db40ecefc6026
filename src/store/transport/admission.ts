import { FairSemaphore, PermitDenied, type Permit } from "../../fairness/fair-semaphore.ts";
import { currentTenant } from "../../fairness/tenant.ts";
import type { LimitProfile } from "../limits.ts";
import { StorageError } from "../storage-error.ts";

export interface AdmissionOptions {
  /** Statements that run at a time. */
  readonly maxRunning: number;
  /** How many of them may be long ones, so that short ones always find a place. */
  readonly maxHeavy: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

export interface Admission {
  /**
   * Waits for a place; resolves with the function that gives it back. Errors: `StorageError` "overloaded" when too
   * many wait or it took too long, "aborted" when the signal says so.
   */
  enter(profile: LimitProfile, name: string, signal?: AbortSignal): Promise<() => void>;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
}

const heavyProfiles: Readonly<Record<LimitProfile, boolean>> = {
  interactive: false,
  ingest: false,
  heavy: true,
  maintenance: true,
};

/** Divides the statements that run at a time among those on whose behalf they run. A long one needs two places. */
export function createAdmission({
  maxRunning,
  maxHeavy,
  maxWaiting,
  maxWaitMs,
}: AdmissionOptions): Admission {
  const running = new FairSemaphore({ capacity: maxRunning, maxWaiting });
  const heavy = new FairSemaphore({ capacity: maxHeavy, maxWaiting });
  return {
    async enter(profile, name, signal) {
      const shares = heavyProfiles[profile] ? [heavy, running] : [running];
      const tenant = currentTenant();
      const held: Permit[] = [];
      const leave = (): void => {
        for (const one of held) one.release();
      };
      try {
        for (const share of shares) held.push(await share.acquire(tenant, { maxWaitMs, signal }));
        return leave;
      } catch (error) {
        leave();
        const kind = error instanceof PermitDenied ? "overloaded" : "aborted";
        throw new StorageError(
          kind,
          name,
          undefined,
          error instanceof PermitDenied ? error.message : "not started",
        );
      }
    },
    idle: () => running.idle(),
  };
}
