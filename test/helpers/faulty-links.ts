import { setTimeout as pause } from "node:timers/promises";
import { startStatementProxy, type Fate, type Statement, type StatementProxy } from "./statement-proxy.ts";

/** Work of a tenant, from the request to the acknowledgement. */
interface Work {
  readonly over: Promise<void>;
  /** True if it failed at first: one of its statements may belong to an unacknowledged write. */
  isRepeated: boolean;
}

export interface FaultyLinks {
  /** The servers by way of links of their own, in another order for each. */
  open(targets: readonly string[]): Promise<string>;
  /** While it is, all statements pass. */
  isCalm: boolean;
  /** Holds every change with this text from now on, on every link; they are added to what is returned. */
  swallow(text: string): readonly Statement[];
  /** Does something until it succeeds. What is held meanwhile comes late, if it did at once. */
  insist<Result>(work: () => Promise<Result>, isDone: (result: Result) => boolean): Promise<Done<Result>>;
  /** Delivers everything that is still held. */
  deliverAll(): Promise<void>;
  readonly counts: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

interface Done<Result> {
  readonly result: Result;
  readonly isRepeated: boolean;
}

type Shares = readonly (readonly [Fate | "hang", number])[];

/** How often statements have each fate. Hangs are rarer, because each takes seconds. */
const SHARES = {
  mutation: [
    ["cut", 0.5],
    ["lost", 0.1],
    ["twice", 0.1],
    ["slow", 0.1],
    ["hang", 0.01],
  ],
  insert: [
    ["cut", 0.25],
    ["lost", 0.05],
    ["twice", 0.05],
    ["slow", 0.1],
    ["hang", 0.003],
  ],
  read: [
    ["slow", 0.02],
    ["lost", 0.01],
  ],
} as const satisfies Record<string, Shares>;
/** Long enough that a server which does not answer counts as gone. */
const HANG_MS = 4000;
/** A statement comes late by so many works at most, and mostly by less: the machine may be slow. */
const LATE_WORKS = 400;
/** On a busy machine servers that are slow count as away for long. */
const WITHIN_MS = 300_000;

/**
 * Links on which random statements are delayed, repeated, overtaken and held: these arrive some time after what they belong
 * to was acknowledged. `random`: at least 0, less than 1.
 */
export function faultyLinks(random: () => number): FaultyLinks {
  const links: StatementProxy[] = [];
  const running = new Set<Work>();
  const late = new Set<Promise<void>>();
  /** Statements that are delayed until a number of works have ended. */
  const waiting: { readonly until: number; readonly go: () => void }[] = [];
  let over = 0;
  const swallowed: { readonly text: string; readonly statements: Statement[] }[] = [];
  /** A statement that is repeated arrives: the last ones that did not. */
  const troubled: string[] = [];
  const counts: Record<string, number> = { dropped: 0, late: 0 };
  const count = (what: string): void => void (counts[what] = (counts[what] ?? 0) + 1);

  const deliverLate = async (statement: Statement, works: readonly Work[]): Promise<void> => {
    await Promise.all(works.map((work) => work.over));
    if (works.some(({ isRepeated }) => isRepeated)) return count("dropped");
    const { promise, resolve: go } = Promise.withResolvers<void>();
    waiting.push({ until: over + random() ** 2 * LATE_WORKS, go });
    await promise;
    const { status } = await statement.deliver();
    count(status === 200 ? "late" : `late ${status}`);
  };
  const deliverUntil = (end: number): void => {
    const due = waiting.filter(({ until }) => until <= end);
    for (const one of due) waiting.splice(waiting.indexOf(one), 1);
    for (const { go } of due) go();
  };
  const hold = (statement: Statement): void => {
    const one = deliverLate(statement, [...running]);
    late.add(one);
    void one.finally(() => late.delete(one));
  };
  const choose = (statement: Statement): Fate | "hang" => {
    if (troubles.isCalm || troubled.includes(statement.text)) return "pass";
    let drawn = random();
    const shares: Shares =
      SHARES[statement.isChange ? (statement.name === "mutation_start" ? "mutation" : "insert") : "read"];
    for (const [fate, share] of shares) if ((drawn -= share) < 0) return fate;
    return "pass";
  };
  const rule =
    (link: StatementProxy) =>
    (statement: Statement): Fate => {
      const held = statement.isChange ? swallowed.filter(({ text }) => statement.text.includes(text)) : [];
      for (const { statements } of held) statements.push(statement);
      if (held.length > 0) return "cut";
      if (link.stalled) return "pass";
      const fate = choose(statement);
      if (fate === "pass") return fate;
      count(fate);
      if (fate === "slow" || fate === "twice") return fate;
      troubled.push(statement.text);
      if (troubled.length > 100) troubled.shift();
      if (fate !== "lost") hold(statement);
      if (fate !== "hang") return fate;
      link.stalled = true;
      void pause(HANG_MS).then(() => (link.stalled = false));
      return "hold";
    };

  const troubles: FaultyLinks = {
    isCalm: false,
    counts,
    swallow(text) {
      const statements: Statement[] = [];
      swallowed.push({ text, statements });
      return statements;
    },
    async open(targets) {
      const own = await Promise.all(targets.map(startStatementProxy));
      for (const link of own) link.rule = rule(link);
      links.push(...own);
      return own.map(({ url }) => url).join(",");
    },
    async insist(work, isDone) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const own: Work = { over: promise, isRepeated: false };
      running.add(own);
      const giveUpMs = performance.now() + WITHIN_MS;
      try {
        for (;;) {
          const tried = await work().then(
            (result) => ({ result }),
            (error: unknown) => ({ error }),
          );
          if ("result" in tried && isDone(tried.result)) {
            // what was refused may still be stored: nothing is expected before it is
            if (own.isRepeated) await Promise.all(links.map((link) => link.materialized()));
            return { result: tried.result, isRepeated: own.isRepeated };
          }
          if (performance.now() > giveUpMs)
            throw new Error(`not within ${WITHIN_MS} ms: ${JSON.stringify(tried)}`);
          own.isRepeated = true;
          await pause(50);
        }
      } finally {
        running.delete(own);
        resolve();
        deliverUntil(++over);
      }
    },
    async deliverAll() {
      while (late.size > 0) {
        deliverUntil(Infinity);
        await pause(10);
      }
    },
    async close() {
      for (const link of links) await link.close();
    },
  };
  return troubles;
}
