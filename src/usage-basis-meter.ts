import { Counter, type Registry } from "prom-client";
import type { CallWriter } from "./calls/write/call-writer.ts";

/** Spans whose producer the table does not have share this label: what scopes are called is up to clients. */
const OTHER = "(other)";

/** Counts the calls with usage that are stored, by how their usage was read. */
export function meterUsageBasis(calls: CallWriter, registry: Registry): CallWriter {
  const read = new Counter({
    name: "sumtree_usage_read_total",
    help: "Spans with usage that were stored, by how their usage was read and by known producer",
    labelNames: ["basis", "producer"],
    registers: [registry],
  });
  return {
    ...calls,
    async write(project, parts, since) {
      const traces = await calls.write(project, parts, since);
      for (const { reading } of parts)
        if (reading !== undefined) read.inc({ basis: reading.basis, producer: reading.producer ?? OTHER });
      return traces;
    },
  };
}
