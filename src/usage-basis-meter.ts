import { Counter, type Registry } from "prom-client";
import type { CallWriter } from "./calls/write/call-writer.ts";

/** Label of unknown producers: scope names are chosen by clients. */
const OTHER = "(other)";

/** Wraps a writer to count stored calls with usage, by the basis of their usage. */
export function meterUsageBasis(calls: CallWriter, registry: Registry): CallWriter {
  const read = new Counter({
    name: "sumtree_usage_read_total",
    help: "Stored spans with usage, by basis and known producer",
    labelNames: ["basis", "producer"],
    registers: [registry],
  });
  return {
    ...calls,
    async write(project, events, since) {
      const traces = await calls.write(project, events, since);
      for (const { reading } of events)
        if (reading !== undefined) read.inc({ basis: reading.basis, producer: reading.producer ?? OTHER });
      return traces;
    },
  };
}
