import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const CAPACITY = 256 * 1024;
const PATIENCE_MS = 1000;

let test: TestApp;
let other: string;
let attacker: string;
beforeAll(async () => {
  test = await startApp({
    settings: { MAX_BODY_BYTES_IN_FLIGHT: String(CAPACITY), CLIENT_STALL_TIMEOUT_MS: String(PATIENCE_MS) },
  });
  await test.app.listen({ port: 0, host: "127.0.0.1" });
  const newKey = async (project: string): Promise<string> => {
    const made = await test.post("/api-keys", {
      name: project,
      scopes: ["ingest", "read"],
      projects: [project],
    });
    return (made.json() as { key: string }).key;
  };
  [other, attacker] = await Promise.all([newKey("acme/other"), newKey("acme/attacker")]);
});
afterAll(() => test.close());

interface Upload {
  readonly socket: Socket;
  readonly answer: { text: string };
}

/** Declares a body and sends its beginning. */
function begin({ declared, sent }: { declared: number | "chunked"; sent: number }): Upload {
  const { port } = test.app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  const response = { text: "" };
  socket.on("error", () => undefined).on("data", (bytes) => (response.text += bytes.toString()));
  const length =
    declared === "chunked" ? "transfer-encoding: chunked" : `content-length: ${Math.max(declared, sent + 1)}`;
  const head = `POST /call/upsert_batch HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization(attacker)}\r\n${length}\r\n\r\n`;
  const body = " ".repeat(sent);
  socket.write(head + (declared === "chunked" ? `${sent.toString(16)}\r\n${body}\r\n` : body));
  return { socket, answer: response };
}

const upload = fc.record({
  declared: fc.oneof(fc.integer({ min: 1, max: 64 * 2 ** 20 }), fc.constant("chunked" as const)),
  sent: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 80_000 })),
});

it("stalled uploads do not block others, and are rejected", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(upload, { minLength: 8, maxLength: 16 }), async (uploads) => {
      const open = uploads.map(begin);
      for (let n = 0; n < 5; n++) {
        const op_name = "x".repeat(9000);
        const start = { project_id: "acme/other", op_name, started_at: "2026-01-01T00:00:00Z" };
        const response = await test.post("/call/start", { start }, { key: other });
        expect([n, response.status]).toEqual([n, 200]);
      }
      await until(async () => open.every(({ answer }) => answer.text.includes("\r\n\r\n")));
      const statuses = open.map(({ answer }) => answer.text.slice(9, 12));
      expect(statuses.filter((status) => status !== "408" && status !== "503")).toEqual([]);
      if (uploads.reduce((sum, { sent }) => sum + sent, 0) < CAPACITY / 2)
        expect(statuses).not.toContain("503");
      await Promise.all(
        open.map(async ({ socket }) => {
          socket.destroy();
          if (!socket.closed) await once(socket, "close");
        }),
      );
    }),
    { seed: chosenSeed(), numRuns: runs(4, 40) },
  );
});
