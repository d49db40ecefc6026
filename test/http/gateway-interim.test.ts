import fc from "fast-check";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { splitAt } from "../helpers/random-splits.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, startSecondApp, type SecondApp, type TestGateway } from "../helpers/start-gateway.ts";

const RUNS = runs(20, 300);
const { seed } = seededRandom();

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

interface Script {
  readonly interim: readonly string[];
  readonly body: string;
  readonly cuts: readonly number[];
}

let script: Script = { interim: [], body: "", cuts: [] };
let test: TestGateway;
let app: SecondApp;
let upstream: Server;
const sockets = new Set<Socket>();

/** The body is a piece of its own: it may look like the head of a response. */
function piecesOf({ interim, body, cuts }: Script): Buffer[] {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\n`;
  return [...splitAt(Buffer.from(interim.join("") + head), cuts), Buffer.from(body)];
}

/** Reads requests to their end by their length, and answers each with the script. */
function serve(socket: Socket): void {
  sockets.add(socket.setNoDelay(true));
  let read = "";
  const response = async (): Promise<void> => {
    for (const piece of piecesOf(script)) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  socket.on("error", () => undefined);
  socket.on("data", (bytes: Buffer) => {
    read += bytes.toString("latin1");
    const end = read.indexOf("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(read)?.[1] ?? 0);
    if (end === -1 || read.length < end + 4 + length) return;
    read = "";
    void response();
  });
}

beforeAll(async () => {
  test = await startGateway();
  upstream = createServer(serve);
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const { port } = upstream.address() as AddressInfo;
  app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: `http://127.0.0.1:${port}/v1` });
});
afterAll(async () => {
  await app.close();
  for (const socket of sockets) socket.destroy();
  upstream.close();
  await test.close();
});

const scripts = fc.record({
  interim: fc.array(
    fc.constantFrom(
      CONTINUE,
      "HTTP/1.1 100 \r\n\r\n",
      "HTTP/1.1 100 Continue\r\nx-note: HTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 102 Processing\r\n\r\n",
      "HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n",
    ),
    { maxLength: 3 },
  ),
  body: fc.constantFrom("", "fine", CONTINUE, `${CONTINUE}${CONTINUE}`),
  cuts: fc.array(fc.nat(1000), { maxLength: 3 }),
});

describe(`unsolicited interim responses (seed ${seed})`, () => {
  it("are ignored, for any chunks, and bodies stay unchanged", async () => {
    const property = fc.asyncProperty(scripts, async (one) => {
      script = one;
      const response = await fetch(`${app.url}/v1/files`, {
        method: "POST",
        headers: { authorization: `Bearer ${ROOT_KEY}` },
        body: "x",
      });
      expect([response.status, await response.text()]).toEqual([200, one.body]);
    });
    await fc.assert(property, { seed, numRuns: RUNS });
  });
});
