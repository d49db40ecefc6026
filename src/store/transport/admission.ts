import { FairSemaphore, PermitDenied, type Permit } from "../../fairness/fair-semaphore.ts";
import { currentTenant } from "../../fairness/tenant.ts";
import type { LimitProfile } from "../limits.ts";
import { StorageError } from "../storage-error.ts";

export interface AdmissionOptions {
  /** Maximum concurrent statements. */
  readonly maxRunning: number;
  /** Maximum long statements among them, so that short ones always get a permit. */
  readonly maxHeavy: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

export interface Admission {
  /**
   * Waits for a permit; resolves with the function that releases it. Throws `StorageError` "overloaded" if `maxWaiting` wait
   * or after `maxWaitMs`, "aborted" by the signal.
   */
  enter(profile: LimitProfile, name: string, signal?: AbortSignal): Promise<() => void>;
  /** Resolves when no statement runs. */
  idle(): Promise<void>;
}

const heavyProfiles: Readonly<Record<LimitProfile, boolean>> = {
  interactive: false,
  ingest: false,
  heavy: true,
  maintenance: true,
};

/** Divides concurrent statements fairly among tenants. A long statement also needs a permit of `maxHeavy`. */
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
      const limiters = heavyProfiles[profile] ? [heavy, running] : [running];
      const tenant = currentTenant();
      const permits: Permit[] = [];
      const leave = (): void => {
        for (const permit of permits) permit.release();
      };
      try {
        for (const limiter of limiters) permits.push(await limiter.acquire(tenant, { maxWaitMs, signal }));
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
