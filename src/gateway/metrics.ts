import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Recorder } from "./recording/recorder.ts";
import type { RelayMetrics } from "./relay/relay.ts";

export interface MetricsSources {
  readonly openRequests: () => number;
  readonly recorder: Recorder;
}

export interface GatewayMeter extends RelayMetrics {
  /** A request has passed whose use nobody measures. */
  unmetered(): void;
}

/** The gateway's metrics. Labels are our own names; a path or a model never becomes one. */
export function registerMetrics(registry: Registry, sources: MetricsSources): GatewayMeter {
  const registers = [registry];
  const requests = new Counter({
    name: "sumtree_gateway_requests_total",
    help: "Relayed requests by how they ended for the client",
    labelNames: ["route", "outcome"],
    registers,
  });
  const firstByte = new Histogram({
    name: "sumtree_gateway_first_byte_seconds",
    help: "From the request's arrival to the head of the upstream's response",
    labelNames: ["route"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1200],
    registers,
  });
  const unmetered = new Counter({
    name: "sumtree_gateway_unmetered_total",
    help: "Relayed requests whose use is not measured",
    registers,
  });
  for (const gauge of gauges(sources)) registry.registerMetric(gauge);
  for (const counter of recorderCounters(sources.recorder)) registry.registerMetric(counter);
  return {
    ended: (route, outcome) => requests.inc({ route, outcome }),
    unmetered: () => unmetered.inc(),
    firstByte: (route, seconds) => firstByte.observe({ route }, seconds),
  };
}

function gauges({ openRequests, recorder }: MetricsSources): Gauge[] {
  return [
    new Gauge({
      name: "sumtree_gateway_open_requests",
      help: "Relayed requests that are not over",
      registers: [],
      collect() {
        this.set(openRequests());
      },
    }),
    new Gauge({
      name: "sumtree_gateway_completions_pending",
      help: "Completions that wait to be recorded",
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
    help: "Completions recorded that a killed process had left, finished or cut",
    labelNames: ["kind"],
    registers: [],
    collect() {
      this.reset();
      for (const [kind, count] of Object.entries(recorder.counts().recovered)) this.inc({ kind }, count);
    },
  });
  return [
    counterOf("recorded", "Completions recorded as calls"),
    counterOf("dropped", "Completions that could not be recorded"),
    counterOf("unjournaled", "Completions that a kill would lose until they are recorded"),
    recovered,
  ];
}
