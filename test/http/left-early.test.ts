import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../src/http/auth/api-key.ts";
import { createKeyStore } from "../../src/http/auth/key-store.ts";
import { blockStatement, type BlockedStatement } from "../helpers/blocked-statement.ts";
import { head, sendRaw, type RawExchange } from "../helpers/raw-http.ts";
import { startGateway, startSecondApp, type SecondApp, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
let app: SecondApp;
const { id, text: key, secretHash } = generateKey();
let held: BlockedStatement;

beforeAll(async () => {
  test = await startGateway();
  await createKeyStore(test.engine).add({
    id,
    name: "reader",
    secretHash,
    scopes: ["read"],
    projects: ["*"],
    expiresAtMs: null,
  });
  held = blockStatement(test.engine, "api_key_list");
  const settings = { KEY_MAX_CONCURRENT: "1", MAX_BODY_BYTES_IN_FLIGHT: "1024" };
  app = await startSecondApp(test, settings, { engine: held.engine });
});
afterAll(async () => {
  await app.close();
  await test.close();
});

function ask(): RawExchange {
  const body = JSON.stringify({ project_id: "a/b", filter: { call_ids: ["x".repeat(500)] } });
  const lines = ["POST /trace/usage HTTP/1.1", "host: s", `authorization: Bearer ${key}`];
  return sendRaw(app.port, head(...lines, `content-length: ${body.length}`), body);
}

describe("a client that leaves while its key is checked", () => {
  it("releases its permits, for the request and for its body", async () => {
    const { socket } = ask();
    await until(() => held.count() === 1);
    socket.destroy();
    await until(async () => (await app.connections()) === 0);
    await held.release();
    expect(await ask().answer).toMatchObject({ status: 200 });
  });
});
