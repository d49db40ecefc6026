import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faultyEngine, type StatementFate } from "../helpers/faulty-engine.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startAppOn, startEngine, type TestApp, type TestEngine } from "../helpers/start-app.ts";
import { storedStateOf, traceMessages, type Message } from "../helpers/trace-messages.ts";

let store: TestEngine;
beforeAll(async () => {
  store = await startEngine();
});
afterAll(() => store.close());

interface Replica {
  readonly test: TestApp;
  /** Fates of the next statements, by number. */
  fateOf: (statement: number) => StatementFate;
  /** Statements since `fateOf` was set. */
  statements: number;
}

async function startReplica(): Promise<Replica> {
  const test = await startAppOn(store.engine, {
    deps: { lingerMs: 0 },
    wrapEngine: (engine) => faultyEngine(engine, () => replica.fateOf(++replica.statements)),
  });
  const replica: Replica = { test, fateOf: () => "done", statements: 0 };
  return replica;
}

async function send({ test }: Replica, project: string, [url, body]: Message): Promise<number> {
  const answer = await test.post(url.replace("{project}", project), body(project));
  if (answer.status === 503) expect(answer.headers["retry-after"]).toBe("5");
  return answer.status;
}

async function untilStored(replica: Replica, project: string, message: Message): Promise<void> {
  const seen: number[] = [];
  while (seen.at(-1) !== 200) {
    seen.push(await send(replica, project, message));
    expect(seen.length, `answers ${seen.join(", ")} to ${message[0]}`).toBeLessThan(4);
  }
}

/** Ends, renames and deletes before their starts, so that every way through the writer is taken. */
const messages = traceMessages().toReversed();
const AT_ONCE = 8;

/** Tests every STEP-th fault, starting at one chosen by the seed. */
const STEP = 4;
const first = chosenSeed() % STEP;

describe("a store that fails at its nth statement", () => {
  it(`loses and duplicates nothing if clients retry (from ${first})`, async () => {
    const replicas = await Promise.all(Array.from({ length: AT_ONCE }, startReplica));
    const sendAll = async (replica: Replica, project: string, fateOf: Replica["fateOf"]) => {
      Object.assign(replica, { fateOf, statements: 0 });
      for (const message of messages) await untilStored(replica, project, message);
      const { statements } = replica;
      replica.fateOf = () => "done";
      return { statements, outcome: await storedStateOf(replica.test, project) };
    };
    const undisturbed = await sendAll(replicas[0]!, "acme/undisturbed", () => "done");
    expect(undisturbed.outcome.calls).toHaveLength(6);
    expect(undisturbed.statements).toBeGreaterThan(30);

    let next = first;
    const work = async (replica: Replica): Promise<void> => {
      while (next < 2 * undisturbed.statements) {
        const fault = next % 2 === 0 ? "refused" : "untold";
        const nth = Math.floor(next / 2) + 1;
        next += STEP;
        const fateOf = (statement: number): StatementFate => (statement === nth ? fault : "done");
        const { outcome } = await sendAll(replica, `acme/${fault}-${nth}`, fateOf);
        expect(outcome, `${fault}: statement ${nth}`).toEqual(undisturbed.outcome);
      }
    };
    await Promise.all(replicas.map(work));
    for (const { test } of replicas) await test.close();
  });
});
