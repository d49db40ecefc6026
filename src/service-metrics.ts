import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { BatchEvent } from "./store/group-commit.ts";
import type { StatementMeter } from "./store/instrumented-engine.ts";

/** Service-wide metrics. Labels are our own names, except for unpriced models, whose number is bounded. */
export interface ServiceMetrics {
  readonly statements: StatementMeter;
  readonly batchWritten: (batch: BatchEvent) => void;
  readonly priceUnknown: (llmId: string) => void;
  readonly telemetryIgnored: (signal: string, count: number) => void;
}

const MAX_MODELS = 100;
const OTHER_MODELS = "(other)";
const MAX_MODEL_CHARS = 100;

export function createServiceMetrics(registry: Registry): ServiceMetrics {
  return {
    statements: statementMeter(registry),
    batchWritten: batchMeter(registry),
    priceUnknown: unknownPriceMeter(registry),
    telemetryIgnored: ignoredTelemetryMeter(registry),
  };
}

function statementMeter(registry: Registry): StatementMeter {
  const registers = [registry];
  const seconds = new Histogram({
    name: "sumtree_store_statement_duration_seconds",
    help: "Store statement duration in seconds, queueing included, by name and outcome",
    labelNames: ["name", "outcome"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 120],
    registers,
  });
  const readRows = new Counter({
    name: "sumtree_store_read_rows_total",
    help: "Rows read by store statements",
    labelNames: ["name"],
    registers,
  });
  const readBytes = new Counter({
    name: "sumtree_store_read_bytes_total",
    help: "Bytes read by store statements",
    labelNames: ["name"],
    registers,
  });
  const writtenRows = new Counter({
    name: "sumtree_store_written_rows_total",
    help: "Rows written durably",
    labelNames: ["name"],
    registers,
  });
  const open = new Gauge({
    name: "sumtree_store_open_statements",
    help: "Store statements running or queued",
    registers,
  });
  return {
    started: () => open.inc(),
    ended({ name, outcome, ...event }) {
      open.dec();
      seconds.observe({ name, outcome }, event.seconds);
      if (event.readRows > 0) readRows.inc({ name }, event.readRows);
      if (event.readBytes > 0) readBytes.inc({ name }, event.readBytes);
      if (event.writtenRows > 0) writtenRows.inc({ name }, event.writtenRows);
    },
  };
}

function batchMeter(registry: Registry): ServiceMetrics["batchWritten"] {
  const lag = new Histogram({
    name: "sumtree_write_batch_lag_seconds",
    help: "Time from arrival of a batch's first item until durable, in seconds",
    labelNames: ["name"],
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    registers: [registry],
  });
  return ({ name, lagMs }) => lag.observe({ name }, lagMs / 1000);
}

function unknownPriceMeter(registry: Registry): ServiceMetrics["priceUnknown"] {
  const responses = new Counter({
    name: "sumtree_unpriced_responses_total",
    help: "Responses with costs in which a model had no price, by model (the first 100)",
    labelNames: ["llm"],
    registers: [registry],
  });
  const known = new Set<string>();
  return (llmId) => {
    const llm = llmId.slice(0, MAX_MODEL_CHARS).toWellFormed();
    if (known.size < MAX_MODELS) known.add(llm);
    responses.inc({ llm: known.has(llm) ? llm : OTHER_MODELS });
  };
}

function ignoredTelemetryMeter(registry: Registry): ServiceMetrics["telemetryIgnored"] {
  const ignored = new Counter({
    name: "sumtree_otlp_ignored_total",
    help: "Log records and data points accepted but not stored, by signal",
    labelNames: ["signal"],
    registers: [registry],
  });
  return (signal, count) => ignored.inc({ signal }, count);
}
