import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";
import { anthropic, gemini, openaiChat, responses } from "../models/chat-formats/api-formats.ts";
import { drawConversation } from "../models/chat-formats/conversation.ts";
import { isChosen } from "./environments.ts";
import { PROGRAMS, runPython } from "./python-program.ts";

const project_id = "acme/dataset-files";
const random = seededRandom();
const FORMATS = [openaiChat, anthropic, responses, gemini];
const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)]!;
/** Schemas whose members have other names and types than each other's. */
const PARAMETERS: readonly object[] = [
  { type: "object", properties: {} },
  { type: "object", properties: { city: { type: "string", enum: ["Praha", "Brno"] } }, required: ["city"] },
  {
    type: "object",
    properties: { days: { type: ["integer", "null"], enum: [1, 2, null], default: 1 } },
    additionalProperties: false,
  },
  { type: "object", properties: { city: { anyOf: [{ type: "string" }, { type: "number" }], default: "" } } },
];
const PROMPTS = 40;
const ANSWERS = 4;

let test: TestApp;
let dir: string;
beforeAll(async () => {
  test = await startApp();
  dir = mkdtempSync(join(tmpdir(), "sumtree-datasets-"));
  // two of four answers to a prompt pass
  const batch = Array.from({ length: PROMPTS }, (_, at) => {
    const drawn = drawConversation(random, `m${at}`);
    const tools = drawn.tools.map((tool) => ({ ...tool, parameters: oneOf(PARAMETERS) }));
    const write = FORMATS[at % FORMATS.length]!;
    return Array.from({ length: ANSWERS }, (__, place) => {
      const { text = "", calls } = drawn.answer;
      const answer = place === 0 ? drawn.answer : { text: `${text} ${place}`, calls };
      return {
        project_id,
        id: `c${at}-${place}`,
        trace_id: `t${at}-${place}`,
        op_name: "chat",
        started_at: new Date(Date.UTC(2026, 5, 1) + (at * ANSWERS + place) * 1000).toISOString(),
        ended_at: "2026-06-02T00:00:00Z",
        attributes: {},
        summary: {},
        ...write({ ...drawn, tools, answer }),
      };
    });
  }).flat();
  const sent = await test.post(`/v2/${project_id}/calls/complete`, { batch });
  expect([sent.status, sent.text]).toEqual([200, '{"rejected":[]}']);
  const feedback = batch.map(({ id }, at) => ({
    project_id,
    weave_ref: `weave:///${project_id}/call/${id}`,
    feedback_type: "score",
    payload: { score: at % 2 === 0 ? 1 : 0.25 },
  }));
  const rated = await test.post("/feedback/batch/create", { batch: feedback });
  expect(rated.status, rated.text).toBe(200);
});
afterAll(async () => {
  await test.close();
  rmSync(dir, { recursive: true, force: true });
});

const passing = { json_path: "score", op: "$gte", value: 0.5 };
const QUESTIONS = {
  chat: {},
  preference: { feedback: passing },
  trajectories: { feedback: { ...passing, value: 0 } },
};

describe("exported files", () => {
  it.runIf(isChosen("datasets"))(
    "are read by Hugging Face datasets row by row, and are conversational formats of trl",
    async () => {
      for (const [format, question] of Object.entries(QUESTIONS)) {
        const answer = await test.post("/dataset/export", { project_id, format, ...question });
        expect(answer.status, answer.text).toBe(200);
        writeFileSync(join(dir, `${format}.jsonl`), answer.text);
      }
      const ended = await runPython("datasets", [join(PROGRAMS, "dataset_files.py")], {
        DATASETS: dir,
        HF_HUB_OFFLINE: "1",
      });
      expect(ended.exitCode, ended.output).toBe(0);
      expect(JSON.parse(ended.output.split("\nRESULT ")[1]!)).toEqual({
        chat: PROMPTS * ANSWERS,
        preference: (PROMPTS * ANSWERS) / 2,
        trajectories: PROMPTS * ANSWERS,
      });
    },
  );
});
