/** One figure of a scenario: what was measured, against what, in the same run. */
export interface ScenarioResult {
  readonly what: string;
  /** Medians and spread of both sides; `unit` says of what. */
  readonly subject: Spread;
  readonly against: { readonly what: string; readonly spread: Spread } | undefined;
  readonly unit: "ms" | "MB" | "calls/s" | "µs" | "streams" | "inserts" | "exponent";
  /** The stated target for the ratio (or for the figure itself where nothing stands against it). */
  readonly target: string;
  readonly met: boolean;
}

export interface Scenario {
  readonly name: string;
  run(): Promise<readonly ScenarioResult[]>;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)]!, min: sorted[0]!, max: sorted.at(-1)! };
}

/**
 * Times alternatives in turn, A B A B …, so that a machine that slows down slows all of them; each once before,
 * uncounted. Milliseconds.
 */
export async function timeInTurn(
  rounds: number,
  alternatives: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<Record<string, Spread>> {
  const samples = new Map(Object.keys(alternatives).map((name) => [name, [] as number[]]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, work] of Object.entries(alternatives)) {
      const began = performance.now();
      await work();
      if (round >= 0) samples.get(name)!.push(performance.now() - began);
    }
  }
  return Object.fromEntries([...samples].map(([name, times]) => [name, spreadOf(times)]));
}

/** `subject / against`, judged by medians. */
export function ratioAtMost(
  limit: number,
  what: string,
  subject: Spread,
  against: { what: string; spread: Spread },
): ScenarioResult {
  return {
    what,
    subject,
    against,
    unit: "ms",
    target: `≤ ${limit} ×`,
    met: subject.median <= limit * against.spread.median,
  };
}

export function ratioAtLeast(
  limit: number,
  what: string,
  subject: Spread,
  against: { what: string; spread: Spread },
): ScenarioResult {
  return {
    what,
    subject,
    against,
    unit: "ms",
    target: `≥ ${limit} × faster`,
    met: against.spread.median >= limit * subject.median,
  };
}
