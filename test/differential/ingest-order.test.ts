import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { outcomeOf, traceMessages, type Message } from "../helpers/trace-messages.ts";

const ORDERS = runs(20, 300);
const AT_ONCE = 50;

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { INGEST_LINGER_MS: "5" } });
});
afterAll(() => test.close());

async function send(project: string, [url, body]: Message): Promise<void> {
  const answer = await test.post(url.replace("{project}", project), body(project));
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
}

describe("ingest", () => {
  it(`has one outcome for ${ORDERS} random orders with duplicates`, async () => {
    for (const message of traceMessages()) await send("acme/reference", message);
    const expected = await outcomeOf(test, "acme/reference");
    expect(expected.calls).toHaveLength(6);
    expect(expected.call_usage["a"]["m"]).toMatchObject({ requests: 4, prompt_tokens: 1111 });
    expect(expected.unfinished_call_ids).toEqual(["open"]);

    const seed = chosenSeed();
    const messages = traceMessages();
    const orders = fc.sample(
      fc.shuffledSubarray([...messages, ...messages], { minLength: messages.length * 2 }).map((order) => {
        const firstOf = new Set(order);
        return [
          ...order.slice(0, messages.length + 4),
          ...messages.filter((message) => !firstOf.has(message)),
          ...messages.filter((message) => !order.slice(0, messages.length + 4).includes(message)),
        ];
      }),
      { numRuns: ORDERS, seed },
    );
    for (let from = 0; from < orders.length; from += AT_ONCE) {
      await Promise.all(
        orders.slice(from, from + AT_ONCE).map(async (order, offset) => {
          const project = `acme/order-${from + offset}`;
          // some messages of one client overlap, the others follow each other
          for (let at = 0; at < order.length; at += 3)
            await Promise.all(order.slice(at, at + 3).map((one) => send(project, one)));
          expect(await outcomeOf(test, project), `seed ${seed}, order ${from + offset}`).toEqual(expected);
        }),
      );
    }
  });
});
