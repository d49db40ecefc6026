import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { until } from "../helpers/until.ts";

const KILLS = runs(1, 10);
const WRITERS = 8;
const random = seededRandom();

const dir = mkdtempSync(join(tmpdir(), "sumtree-kill-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const settings = { DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY };
const project_id = "acme/kill";

interface Message {
  readonly path: string;
  readonly body: object;
  /** Id of the call it starts. */
  readonly starts?: string;
  readonly ends?: string;
}

/** Ids whose start or end was acknowledged. */
const startedIds = new Set<string>();
const endedIds = new Set<string>();
/** Requests without a response, retried as clients do. */
const unanswered = new Set<Message>();

async function send(service: ServiceProcess, message: Message): Promise<boolean> {
  unanswered.add(message);
  try {
    const response = await service.post(message.path, message.body);
    await response.arrayBuffer();
    if (!response.ok) return false;
  } catch {
    return false;
  }
  unanswered.delete(message);
  if (message.starts !== undefined) startedIds.add(message.starts);
  if (message.ends !== undefined) endedIds.add(message.ends);
  return true;
}

/** Creates a start and an end, sometimes the end first, or both in one batch. */
function messagesOf(writer: string, n: number): Message[] {
  const id = `${writer}-${n}`;
  const start = {
    project_id,
    id,
    trace_id: writer,
    op_name: "op",
    started_at: "2026-01-01T00:00:00Z",
    inputs: { text: "x".repeat(500) },
    attributes: {},
  };
  const end = {
    project_id,
    id,
    ended_at: "2026-01-01T00:00:01Z",
    output: "y",
    summary: { usage: { m: { requests: 1 } } },
  };
  if (n % 3 === 1) {
    const batch = [
      { mode: "start", req: { start } },
      { mode: "end", req: { end } },
    ];
    return [{ path: "/call/upsert_batch", body: { batch }, starts: id, ends: id }];
  }
  const pair: Message[] = [
    { path: "/call/start", body: { start }, starts: id },
    { path: "/call/end", body: { end }, ends: id },
  ];
  return n % 3 === 0 ? pair.toReversed() : pair;
}

async function write(service: ServiceProcess, writer: string): Promise<void> {
  for (let n = 0; ; n++) {
    for (const message of messagesOf(writer, n)) if (!(await send(service, message))) return;
  }
}

describe(`kill -9 during ingest (seed ${random.seed})`, () => {
  it(`keeps every acknowledged call, each once, over ${KILLS} kills`, async () => {
    let sentAgain = 0;
    const sendAgain = async (service: ServiceProcess): Promise<void> => {
      const messages = [...unanswered];
      sentAgain += messages.length;
      const sent = await Promise.all(messages.map((message) => send(service, message)));
      expect(sent).not.toContain(false);
    };
    for (let kill = 0; kill < KILLS; kill++) {
      const service = await startProcess(settings);
      await sendAgain(service);
      const writers = Array.from({ length: WRITERS }, (_, writer) => write(service, `k${kill}w${writer}`));
      const enough = endedIds.size + 5 + random.next() * 100;
      await until(() => endedIds.size > enough);
      await delay(random.next() * 60);
      await service.end("SIGKILL");
      await Promise.all(writers);
    }
    const service = await startProcess(settings);
    await sendAgain(service);
    expect(sentAgain).toBeGreaterThan(0);
    const answer = (await (await service.post("/trace/usage", { project_id, limit: 1_000_000 })).json()) as {
      call_usage: Record<string, Record<string, { requests: number }>>;
      unfinished_call_ids: string[];
    };
    const unfinished = new Set(answer.unfinished_call_ids);
    const lostStarts = [...startedIds].filter((id) => answer.call_usage[id] === undefined);
    const lostEnds = [...endedIds].filter(
      (id) => startedIds.has(id) && (unfinished.has(id) || answer.call_usage[id]?.["m"]?.requests !== 1),
    );
    expect({ lostStarts, lostEnds }).toEqual({ lostStarts: [], lostEnds: [] });
    expect(Object.keys(answer.call_usage).toSorted()).toEqual([...startedIds].toSorted());
    expect(await service.end("SIGTERM")).toBe(0);
  });
});
