import { param, sql } from "../../src/query/sql.ts";
import type { TestApp } from "./start-app.ts";

export type Message = readonly [url: string, body: (project: string) => unknown];

/** A trace of six calls in every shape that clients send: pairs, whole calls, renames, a deleted leaf, an open call. */
export function traceMessages(): Message[] {
  const start = (id: string, parent: string | null, more: object = {}): Message => [
    "/call/start",
    (project_id) => ({
      start: {
        project_id,
        id,
        trace_id: "t",
        parent_id: parent,
        op_name: `op-${id}`,
        started_at: `2026-01-01T00:00:0${id.length}Z`,
        inputs: { id },
        attributes: {},
        display_name: "first",
        ...more,
      },
    }),
  ];
  const end = (id: string, tokens: number, more: object = {}): Message => [
    "/call/end",
    (project_id) => ({
      end: {
        project_id,
        id,
        ended_at: "2026-01-01T00:01:00Z",
        output: { id },
        summary: { usage: { m: { requests: 1, prompt_tokens: tokens } } },
        ...more,
      },
    }),
  ];
  const whole: Message = [
    "/v2/{project}/calls/complete",
    () => ({
      batch: [
        {
          id: "whole",
          trace_id: "t",
          parent_id: "a",
          op_name: "w",
          started_at: "2026-01-01T00:00:00Z",
          ended_at: "2026-01-01T00:00:09Z",
          inputs: {},
          attributes: {},
          output: "weave:///e/p/object/x:1",
          summary: { usage: { m: { requests: 1, prompt_tokens: 1000 } } },
        },
      ],
    }),
  ];
  return [
    start("a", null),
    end("a", 1),
    start("bb", "a", { thread_id: "th", wb_run_step: 4 }),
    end("bb", 10, { exception: "boom" }),
    start("ccc", "bb"),
    end("ccc", 100),
    start("open", "ccc"),
    start("gone", "a"),
    end("gone", 5000),
    whole,
    ["/call/update", (project_id) => ({ project_id, call_id: "bb", display_name: "renamed" })],
    ["/calls/delete", (project_id) => ({ project_id, call_ids: ["gone"] })],
  ];
}

/** Reads the stored calls of a project and their usage. */
export async function storedStateOf(test: TestApp, project: string) {
  const calls = await test.engine.rows<Record<string, unknown>>(
    sql`SELECT * EXCEPT (project_id, deleted_at, fingerprint), deleted_at IS NOT NULL AS deleted FROM calls FINAL
        WHERE project_id = ${param("String", project)} ORDER BY id`,
    { name: "test" },
  );
  const usage = await test.post("/trace/usage", { project_id: project });
  const { call_usage, unfinished_call_ids } = usage.json();
  return { calls, call_usage, unfinished_call_ids };
}
