import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Circuit, CircuitState } from "./relay/circuit.ts";
import type { Recorder } from "./recording/recorder.ts";
import type { RelayMeter } from "./relay/relay.ts";

export interface MetricsSources {
  readonly openRequests: () => number;
  readonly circuits: Readonly<Record<string, Circuit | undefined>>;
  readonly recorder: Recorder;
}

const CIRCUIT_STATES = ["closed", "half_open", "open"] as const satisfies readonly CircuitState[];

/** What `/metrics` tells of the gateway. Labels are names of ours: a path or a model never becomes one. */
export function registerMetrics(registry: Registry, sources: MetricsSources): RelayMeter {
  const registers = [registry];
  const requests = new Counter({
    name: "sumtree_gateway_requests_total",
    help: "Relayed requests by how they ended for the client",
    labelNames: ["route", "outcome"],
    registers,
  });
  const firstByte = new Histogram({
    name: "sumtree_gateway_first_byte_seconds",
    help: "From the request's arrival to the head of the upstream's answer",
    labelNames: ["route"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1200],
    registers,
  });
  for (const gauge of gauges(sources)) registry.registerMetric(gauge);
  for (const counter of recorderCounters(sources.recorder)) registry.registerMetric(counter);
  return {
    settled: (route, outcome) => requests.inc({ route, outcome }),
    firstByte: (route, seconds) => firstByte.observe({ route }, seconds),
  };
}

function gauges({ openRequests, circuits, recorder }: MetricsSources): Gauge[] {
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
      name: "sumtree_gateway_circuit_state",
      help: "1 for the state that the circuit to an upstream is in",
      labelNames: ["upstream", "state"],
      registers: [],
      collect() {
        for (const [upstream, circuit] of Object.entries(circuits)) {
          if (circuit === undefined) continue;
          for (const state of CIRCUIT_STATES) this.set({ upstream, state }, circuit.state === state ? 1 : 0);
        }
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
  const counterOf = (kind: "recorded" | "dropped", help: string): Counter =>
    new Counter({
      name: `sumtree_gateway_completions_${kind}_total`,
      help,
      registers: [],
      collect() {
        this.reset();
        this.inc(recorder.counts()[kind]);
      },
    });
  return [
    counterOf("recorded", "Completions recorded as calls"),
    counterOf("dropped", "Completions that could not be recorded"),
  ];
}
