import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openJournal } from "../../src/journal/journal.ts";
import { budgetsOf, NOTHING, outcomeOf, sendChat, setBudget, settledBudget } from "../helpers/budgeted.ts";
import { startProvider, type Provider } from "../helpers/provider.ts";
import type { Json } from "../helpers/reference-upstream/models.ts";
import { ROOT_KEY, startAppOn, startEngine, type TestApp, type TestEngine } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

/** A provider whose responses run in the background until they end here. */
const responses = new Map<string, Json>();
let provider: Provider;
let store: TestEngine;
const dir = mkdtempSync(join(tmpdir(), "sumtree-background-"));
beforeAll(async () => {
  store = await startEngine();
  provider = await startProvider(({ method, url, body }, response) => {
    const [, id] = /^\/v1\/responses\/([^/?]+)/.exec(url) ?? [];
    if (method === "GET") return response.end(JSON.stringify(responses.get(id!)));
    const { model, background } = JSON.parse(body.toString()) as Json;
    const made = { id: `resp_0aB1cD2eF3gH4iJ5k${responses.size}`, object: "response", model, background };
    responses.set(made.id, {
      ...made,
      status: "queued",
      created_at: Math.floor(Date.now() / 1000),
      output: [],
    });
    return response.end(JSON.stringify(responses.get(made.id)));
  });
});
afterAll(async () => {
  await provider.close();
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

interface Life extends Pick<TestApp, "post" | "app"> {
  readonly url: string;
  close(): Promise<void>;
}

async function live(): Promise<Life> {
  const { journal } = openJournal(dir, "store", { maxBytes: 2 ** 24, onFailure: () => undefined });
  const settings = { CHAT_UPSTREAM_URL: `${provider.origin}/v1` };
  const app = await startAppOn(store.engine, { settings, deps: { journal } });
  const url = await app.app.listen({ host: "127.0.0.1", port: 0 });
  return {
    ...app,
    url: `${url}/v1`,
    async close() {
      await app.close();
      journal.close();
    },
  };
}

async function begin({ url }: Life, project: string): Promise<string> {
  const response = await fetch(`${url}/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${ROOT_KEY}`, "x-sumtree-project": project },
    body: JSON.stringify({
      model: "gpt-5",
      input: "words ".repeat(40),
      max_output_tokens: 20,
      background: true,
    }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { readonly id: string }).id;
}

async function poll({ url }: Life, project: string, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${ROOT_KEY}`, "x-sumtree-project": project };
  const response = await fetch(`${url}/responses/${id}`, { headers });
  expect(response.status).toBe(200);
  await response.text();
}

const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
const end = (id: string): void =>
  void responses.set(id, { ...responses.get(id), status: "completed", usage });
const held = async (life: Life, project: string): Promise<number> => {
  const [budget] = await budgetsOf(life, project);
  return budget!.held.requests;
};

describe("a response in the background", () => {
  it("keeps its hold over a restart until a poll has seen its end", async () => {
    const project = "acme/background";
    const before = await live();
    await setBudget(before, project, { limit: { requests: 2 } });
    const ids = [await begin(before, project), await begin(before, project)];
    expect(await held(before, project)).toBe(2);
    end(ids[0]!);
    await poll(before, project, ids[0]!);
    expect((await settled(before, project, 1)).tokens).toBe(120);
    await before.close();

    const after = await live();
    await until(async () => (await held(after, project)) === 1);
    expect(await outcomeOf(sendChat(after.url, project))).toBe("429 budget_held");
    await poll(after, project, ids[1]!);
    expect(await held(after, project)).toBe(1);
    end(ids[1]!);
    await poll(after, project, ids[1]!);
    expect((await settledBudget(after, project)).spent).toMatchObject({ requests: 2, tokens: 240 });
    expect(await outcomeOf(sendChat(after.url, project))).toBe("402 budget_exceeded");
    await after.close();
  });

  it("is not held again after a poll that is the first request of the next process", async () => {
    const project = "acme/polled";
    const before = await live();
    await setBudget(before, project, { limit: { requests: 2 } });
    const id = await begin(before, project);
    await settled(before, project, 0, 1);
    await before.close();
    end(id);

    for (let life = 0; life < 2; life++) {
      const after = await live();
      await poll(after, project, id);
      expect((await settledBudget(after, project)).spent).toMatchObject({ requests: 1, tokens: 120 });
      await after.close();
    }
  });
});

/** What is spent once so many requests are, and so many are held. */
async function settled(life: Life, project: string, spentRequests: number, heldRequests = 1) {
  await until(async () => {
    const [budget] = await budgetsOf(life, project);
    return budget!.spent.requests === spentRequests && budget!.held.requests === heldRequests;
  });
  const [budget] = await budgetsOf(life, project);
  expect(budget!.spent.requests === 0).toBe(budget!.spent.usd === NOTHING.usd);
  return budget!.spent;
}
