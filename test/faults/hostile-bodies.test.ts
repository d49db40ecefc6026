import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startAttacked, type AttackedService } from "../helpers/attacked-service.ts";
import { runs } from "../helpers/runs.ts";
import { hostileBodies, type HostileBody } from "../models/hostile-bodies.ts";

const MAX_BODY_BYTES = Number(process.env["BODY_MIB"] ?? 4) * 2 ** 20;

let service: AttackedService;
beforeAll(async () => {
  service = await startAttacked(process.env["MAIN"]);
});
afterAll(() => service.close());

/** Feedback is returned as it was stored, so what a compressed body became may come back. */
function longestAnswer({ bytes, headers }: HostileBody): number {
  const most = 1_000_000 + 40 * bytes.length;
  return "content-encoding" in headers ? most + 8 * 1024 * 1024 + 100 * bytes.length : most;
}

// what it costs in time and memory: bench/attacks.bench.ts
it("a hostile body gets a short response with a client error, and others are served meanwhile", async () => {
  await fc.assert(
    fc.asyncProperty(hostileBodies(MAX_BODY_BYTES), async (body) => {
      const { answer, served } = await service.attack(body);
      expect(answer.status === 503 || answer.status < 500, `${body.name}: ${answer.status}`).toBe(true);
      expect(answer.bytes, `${body.name}: length of the answer`).toBeLessThan(longestAnswer(body));
      expect(served).toBeGreaterThan(0);
    }),
    { numRuns: runs(12, 100), endOnFailure: process.env["SHRINK"] !== "1" },
  );
});
