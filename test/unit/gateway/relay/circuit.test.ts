import { expect, it } from "vitest";
import { Circuit } from "../../../../src/gateway/relay/circuit.ts";

it("opens after failures in a row, lets requests try again, and closes on an answer", () => {
  let now = 0;
  const circuit = new Circuit({ failures: 3, openMs: 1000 }, { now: () => now });
  circuit.failed();
  circuit.failed();
  circuit.succeeded();
  circuit.failed();
  circuit.failed();
  expect(circuit.state).toBe("closed");
  circuit.failed();
  expect(circuit.state).toBe("open");
  now = 1000;
  expect(circuit.state).toBe("half_open");
  circuit.failed();
  expect(circuit.state).toBe("open");
  now = 2000;
  circuit.succeeded();
  expect(circuit.state).toBe("closed");
});
