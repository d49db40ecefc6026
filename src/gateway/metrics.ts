import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Recorder } from "./recording/recorder.ts";
import type { RelayMetrics } from "./relay/relay.ts";

export interface MetricsSources {
  readonly openRequests: () => number;
  readonly recorder: Recorder;
}

/** Registers the gateway metrics. Labels are route patterns and our own names, never client paths or models. */
export function registerMetrics(registry: Registry, sources: MetricsSources): RelayMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: "sumtree_gateway_requests_total",
    help: "Relayed requests, by route and client-side outcome",
    labelNames: ["route", "outcome"],
    registers,
  });
  const firstByte = new Histogram({
    name: "sumtree_gateway_first_byte_seconds",
    help: "Time from request arrival to upstream response headers, in seconds",
    labelNames: ["route"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1200],
    registers,
  });
  for (const gauge of gauges(sources)) registry.registerMetric(gauge);
  for (const counter of recorderCounters(sources.recorder)) registry.registerMetric(counter);
  return {
    ended: (route, outcome) => requests.inc({ route, outcome }),
    firstByte: (route, seconds) => firstByte.observe({ route }, seconds),
  };
}

function gauges({ openRequests, recorder }: MetricsSources): Gauge[] {
  return [
    new Gauge({
      name: "sumtree_gateway_open_requests",
      help: "Open relayed requests",
      registers: [],
      collect() {
        this.set(openRequests());
      },
    }),
    new Gauge({
      name: "sumtree_gateway_completions_pending",
      help: "Completions waiting to be recorded",
      registers: [],
      collect() {
        this.set(recorder.counts().pending);
      },
    }),
  ];
}

function recorderCounters(recorder: Recorder): Counter[] {
  const counterOf = (kind: "recorded" | "dropped" | "unjournaled", help: string): Counter =>
    new Counter({
      name: `sumtree_gateway_completions_${kind}_total`,
      help,
      registers: [],
      collect() {
        this.reset();
        this.inc(recorder.counts()[kind]);
      },
    });
  const recovered = new Counter({
    name: "sumtree_gateway_completions_recovered_total",
    help: "Completions recovered from the journal of a killed process, by kind (finished or cut)",
    labelNames: ["kind"],
    registers: [],
    collect() {
      this.reset();
      for (const [kind, count] of Object.entries(recorder.counts().recovered)) this.inc({ kind }, count);
    },
  });
  return [
    counterOf("recorded", "Completions recorded as calls"),
    counterOf("dropped", "Completions dropped unrecorded"),
    counterOf("unjournaled", "Completions queued in memory only, because the journal rejected them"),
    recovered,
  ];
}
