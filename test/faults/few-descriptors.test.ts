import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { ROOT_KEY } from "../helpers/start-app.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-descriptors-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const MAIN = join(import.meta.dirname, "../../src/main.ts");
const IDLE = 5000;

describe("1,024 descriptors", () => {
  it(`serve clients while ${IDLE} connections are idle`, async () => {
    const child = spawn("sh", ["-c", 'ulimit -n 1024 && exec "$0" "$1"', process.execPath, MAIN], {
      env: { PATH: process.env["PATH"], PORT: "0", DATA_DIR: dir, ROOT_API_KEY: ROOT_KEY },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const gone = once(child, "exit");
    const url = await new Promise<string>((resolve) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        const found = /listening at (http:[^"]+)/.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    const sockets: Socket[] = [];
    const headers = { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/json" };
    const write = async (n: number) => {
      const start = {
        project_id: "a/b",
        id: `c${n}`,
        trace_id: "t",
        op_name: "o",
        started_at: "2026-01-01T00:00:00Z",
      };
      const body = JSON.stringify({ start });
      return (await fetch(`${url}/call/start`, { method: "POST", headers, body })).status;
    };
    const statuses: number[] = [];
    for (let n = 0; n < IDLE; n++) {
      const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
      sockets.push(socket);
      if (n % 100 === 99) {
        await once(socket, "connect");
        statuses.push(await write(n));
      }
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
    const read = await fetch(`${url}/calls/query_stats`, {
      method: "POST",
      headers,
      body: JSON.stringify({ project_id: "a/b" }),
    });
    expect(await read.json()).toMatchObject({ count: IDLE / 100 });
    const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
    const shed = Number(
      /^sumtree_http_connections_closed_total\{reason="anonymous"\} (\d+)$/m.exec(metrics)?.[1],
    );
    expect(shed).toBeGreaterThan(IDLE - 1024);
    expect(Number(/^process_open_fds (\d+)$/m.exec(metrics)?.[1])).toBeLessThan(1000);
    for (const socket of sockets) socket.destroy();
    child.kill("SIGTERM");
    expect(await gone).toEqual([0, null]);
  });
});
