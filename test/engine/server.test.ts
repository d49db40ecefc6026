import { ClickHouseContainer, type StartedClickHouseContainer } from "@testcontainers/clickhouse";
import { getContainerRuntimeClient } from "testcontainers";
import { describe, expect, it } from "vitest";
import { connectServer } from "../../src/store/connect.ts";
import { CLICKHOUSE_IMAGE } from "../helpers/clickhouse-image.ts";
import { describeEngine, testLimits } from "./conformance.ts";

const hasDocker = await getContainerRuntimeClient().then(
  () => true,
  () => false,
);
const name = `a server in a container (${CLICKHOUSE_IMAGE})`;

const given = process.env["CLICKHOUSE_TEST_URL"];

if (given !== undefined) {
  describeEngine("the server that CLICKHOUSE_TEST_URL names", async () => {
    const engine = connectServer(given, { limits: testLimits });
    return { engine, close: () => engine.close() };
  });
} else if (hasDocker) {
  describeEngine(name, async () => {
    const container: StartedClickHouseContainer = await new ClickHouseContainer(CLICKHOUSE_IMAGE).start();
    const engine = connectServer(container.getConnectionUrl(), { limits: testLimits });
    return {
      engine,
      async close() {
        await engine.close();
        await container.stop();
      },
    };
  });
} else {
  describe(name, () => {
    if (process.env["REQUIRE_DOCKER"] === "1") {
      it("conforms", () => expect.unreachable("REQUIRE_DOCKER=1, and there is no Docker here"));
      return;
    }
    it.skip("conforms: there is neither CLICKHOUSE_TEST_URL nor Docker here to run it", () => undefined);
  });
}
