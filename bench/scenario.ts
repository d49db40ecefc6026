/** One figure of a scenario: what was measured, against what, in the same run. */
export interface ScenarioResult {
  readonly what: string;
  /** Medians and spread of both sides, in `unit`. */
  readonly subject: Spread;
  readonly against: { readonly what: string; readonly spread: Spread } | undefined;
  readonly unit: "ms" | "MB" | "calls/s" | "µs" | "streams" | "inserts" | "exponent" | "bytes";
  /** For the ratio, or for the figure itself if there is no other side. */
  readonly target: Target | undefined;
}

export interface Target {
  readonly text: string;
  /** Fraction of the limit that was used; above 1 the target is not met. */
  readonly used: number;
  /** The run fails unless it is met. */
  readonly required?: boolean;
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

/** The number of requests after which V8 has compiled the code. */
export const COMPILED_AFTER = 20;

/**
 * Times alternatives in turn, A B A B …, so that a machine that slows down slows all of them; `warmUp` rounds before are
 * not counted. Milliseconds.
 */
export async function timeInTurn(
  rounds: number,
  alternatives: Readonly<Record<string, () => Promise<unknown>>>,
  warmUp = 1,
): Promise<Record<string, Spread>> {
  const samples = new Map(Object.keys(alternatives).map((name) => [name, [] as number[]]));
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, work] of Object.entries(alternatives)) {
      const began = performance.now();
      await work();
      if (round >= 0) samples.get(name)!.push(performance.now() - began);
    }
  }
  return Object.fromEntries([...samples].map(([name, times]) => [name, spreadOf(times)]));
}

type Measured = Pick<ScenarioResult, "what" | "subject"> & {
  readonly against: NonNullable<ScenarioResult["against"]>;
};

/** `subject / against`, judged by medians. */
export function ratioAtMost(limit: number, measured: Measured): ScenarioResult {
  const used = measured.subject.median / (limit * measured.against.spread.median);
  return { ...measured, unit: "ms", target: { text: `≤ ${limit} ×`, used } };
}

/** `against / subject`, judged by medians. */
export function fasterAtLeast(limit: number, measured: Measured): ScenarioResult {
  const used = (limit * measured.subject.median) / measured.against.spread.median;
  return { ...measured, unit: "ms", target: { text: `≥ ${limit} × faster`, used } };
}

/** A figure without another side. */
export function figure(
  what: string,
  subject: Spread,
  { unit, target }: { unit: ScenarioResult["unit"]; target?: Target },
): ScenarioResult {
  return { what, subject, against: undefined, unit, target };
}
