import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { MODEL_APIS } from "../../src/gateway/apis/model-apis.ts";
import { authorization } from "../helpers/start-app.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

const CAPACITY = 256 * 1024;
const HELD = 100_000;

let test: TestGateway;
const keys: Record<string, string> = {};
beforeAll(async () => {
  test = await startGateway({ settings: { MAX_BODY_BYTES_IN_FLIGHT: String(CAPACITY) } });
  for (const name of ["greedy", "modest"]) {
    const made = await test.post("/api-keys", { name, scopes: ["train"], projects: [`acme/${name}`] });
    keys[name] = made.json().key;
  }
});
afterAll(() => test.close());

/** A request whose body does not come to its end. */
function begin(path: string) {
  const socket = connect(test.port, "127.0.0.1");
  const seen = { text: "", isOver: false };
  socket
    .on("error", () => undefined)
    .on("close", () => (seen.isOver = true))
    .on("data", (bytes) => (seen.text += bytes.toString()));
  const lines = [
    `POST /v1${path} HTTP/1.1`,
    "host: x",
    `authorization: ${authorization(keys["greedy"], "bearer")}`,
    "content-type: application/json",
    `content-length: ${2 * HELD}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${" ".repeat(HELD)}`);
  return { socket, seen };
}

it.each(MODEL_APIS.map(({ path }) => path))(
  "bodies that %s buffers are limited, first by project",
  async (path) => {
    const open = Array.from({ length: 4 }, () => begin(path));
    await until(() => open.filter(({ seen }) => seen.text.startsWith("HTTP/1.1 503")).length >= 2);
    expect(open.some(({ seen }) => seen.text === "")).toBe(true);

    const response = await fetch(`${test.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: authorization(keys["modest"], "bearer"), "content-type": "application/json" },
      body: JSON.stringify({ model: "forest-1", messages: [{ role: "user", content: "x".repeat(20_000) }] }),
    });
    expect([path, response.status]).toEqual([path, 200]);
    await response.arrayBuffer();

    for (const { socket } of open) socket.destroy();
    await until(() => open.every(({ seen }) => seen.isOver));
    const held = async (): Promise<number> => {
      const text = await (
        await fetch(`http://127.0.0.1:${test.port}/metrics`, { headers: { authorization: authorization() } })
      ).text();
      return Number(/^sumtree_limiter_in_use\{limiter="bodies"\} (\S+)$/m.exec(text)![1]);
    };
    await until(async () => (await held()) === 0);
  },
);
