import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasProgram } from "../helpers/has-program.ts";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "README.md"), "utf8");
const dir = mkdtempSync(join(tmpdir(), "sumtree-readme-"));

let demo: ChildProcess;
let url = "";
let key = "";
const pasted: string[] = [];
beforeAll(async () => {
  demo = spawn(process.execPath, ["bin/sumtree.js", "demo"], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: demo.stdout! })) {
    url = /running at (http:\S+)/.exec(line)?.[1] ?? url;
    key = /^KEY=(\S+)/.exec(line)?.[1] ?? key;
    pasted.push(line);
    if (line.startsWith("The interface:")) break;
  }
});
afterAll(async () => {
  demo.kill("SIGTERM");
  await once(demo, "exit");
  rmSync(dir, { recursive: true });
});

/** Returns the code blocks of a language in order, adapted to the demo. */
function blocks(language: string): string[] {
  const found = page.matchAll(new RegExp("```" + language + "\\n([\\s\\S]*?)```", "g"));
  return [...found].map((match) =>
    match[1]!.replaceAll("http://localhost:8080", url).replaceAll("localhost:8080", url),
  );
}

const options = () => ({ encoding: "utf8", env: { PATH: process.env["PATH"], KEY: key } }) as const;
const shell = (text: string) => execFileSync("sh", ["-c", text], options());
const pretty = () =>
  blocks("sh")
    .find((block) => block.startsWith("pretty()"))!
    .split("\n")[0]!;
const answer = (question: string): unknown => JSON.parse(shell(`${pretty()}\n${question}`));
const asked = (words: string) => blocks("sh").find((block) => block.includes(words))!;

const usage = async () => {
  const response = await fetch(`${url}/calls/query_stats`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ project_id: "acme/app" }),
  });
  return ((await response.json()) as { count: number }).count;
};

const hasCurl = hasProgram("curl");

describe.runIf(hasCurl)("README.md", () => {
  it("sends a first event by hand and in TypeScript", async () => {
    shell(asked("calls/complete"));
    expect(await usage()).toBe(1);
    const file = join(dir, "first.mts");
    writeFileSync(file, blocks("ts")[0]!);
    execFileSync(process.execPath, [file], options());
    expect(await usage()).toBe(2);
  });

  it.runIf(hasProgram("python3"))("sends one in Python", async () => {
    const python = join(dir, "first.py");
    writeFileSync(python, blocks("python")[0]!);
    execFileSync("python3", [python], options());
    expect(await usage()).toBe(3);
  });

  it("shows the actual response", () => {
    const shown = /```json\n([\s\S]*?)```/.exec(page)![1]!;
    expect(shell(asked('"call_ids": ["call-1"]'))).toBe(shown);
  });

  it("has three queries of the demo with results", () => {
    expect(answer(asked("contract-1"))).toMatchObject({
      call_usage: {
        "contract-1-review": {
          "gemini-2.5-pro": { prompt_tokens: 400_000, prompt_tokens_total_cost: 0.8125 },
          "acme-contracts-7b": { prompt_tokens_total_cost: null },
        },
      },
    });
    const failed = answer(asked('"exception"')) as { call_usage: Record<string, object> };
    expect(failed.call_usage).toMatchObject({
      "refund-1-agent": { "gpt-4o": { requests: 2, prompt_tokens_total_cost: expect.closeTo(0.10875, 9) } },
    });
    const { buckets } = answer(asked("feedback/stats")) as { buckets: { count: number }[] };
    expect(buckets.reduce((sum, bucket) => sum + bucket.count, 0)).toBeGreaterThan(40);
  });
});

describe.runIf(hasCurl)("docs/training.md", () => {
  it("leads from rated answers to a checkpoint that is better and cheaper, in ten commands", () => {
    const training = readFileSync(join(ROOT, "docs/training.md"), "utf8");
    const commands = [...training.matchAll(/```sh\n([^]*?)```/g)].map(([, text]) =>
      text!.replaceAll(/^ {3,4}/gm, ""),
    );
    expect(commands).toHaveLength(10);
    const text = commands.join("\necho; echo ---\n").replaceAll("localhost:8080", url);
    const said = shell(`cd ${dir}\nset -e\n${text}`).split("---\n");
    const groups = (text: string) =>
      Object.fromEntries(
        (
          JSON.parse(text) as { groups: { key: { llm: string }; total: Record<string, number> }[] }
        ).groups.map(({ key, total }) => [key.llm, total]),
      );
    const base = { rated: 3, passed: 1 };
    expect(groups(said[3]!)).toMatchObject({ "Qwen/Qwen3-14B": base });
    expect(said[7]).toContain('"lines":1');
    const after = groups(said[9]!);
    const trained = after["wandb-artifact:///acme/helpdesk/agent:step1"];
    expect(after).toMatchObject({ "Qwen/Qwen3-14B": base });
    expect(trained).toMatchObject({ rated: 2, passed: 2 });
    expect(trained!["cost_per_passed"]).toBeLessThan(after["Qwen/Qwen3-14B"]!["cost_per_passed"]!);
  });
});

describe.runIf(hasCurl)("what the demo prints", () => {
  it("can be pasted unchanged, and returns no errors but the intended ones", () => {
    const start = pasted.findIndex((line) => line.startsWith("KEY="));
    const said = shell(pasted.slice(start, -1).join("\n"));
    expect(said).toContain("refund-1-agent");
    expect(said).toContain('"p95_score"');
    expect(said).toContain("budget_exceeded");
    expect(said.match(/"detail"/g)).toHaveLength(2);
    expect(said.length).toBeLessThan(55_000);
  });
});
