import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { head, sendRaw } from "../helpers/raw-http.ts";
import { authorization, startApp } from "../helpers/start-app.ts";

const BODY = '{"project_id":"a/b"}'.padEnd(200_000);

it("a stop aborts stalled uploads, and waits for active ones", async () => {
  // as long as it may take, the test fails before
  const test = await startApp({ settings: { SHUTDOWN_TIMEOUT_MS: "1200000" } });
  await test.app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = test.app.server.address() as AddressInfo;
  const lines = ["POST /trace/usage HTTP/1.1", "Host: x", `Authorization: ${authorization()}`];
  const upload = (): ReturnType<typeof sendRaw> =>
    sendRaw(port, head(...lines, `Content-Length: ${BODY.length}`), BODY.slice(0, 10));
  const begun = Promise.withResolvers<void>();
  let count = 0;
  test.app.server.on("request", () => ++count === 2 && begun.resolve());
  const [stalled, slow] = [upload(), upload()];
  await begun.promise;

  const stopped = test.close();
  let at = 10;
  const trickle = setInterval(() => slow.socket.write(BODY.slice(at, (at += 2000))), 200);
  expect(await stalled.answer).toMatchObject({ status: 0, complete: false });
  clearInterval(trickle);
  slow.socket.write(BODY.slice(at));
  expect(await slow.answer).toMatchObject({ status: 200, complete: true });
  await stopped;
});
