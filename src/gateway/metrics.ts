import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Clock } from "../shared/clock.ts";
import { CountedLog } from "./counted-log.ts";
import type { Recorder } from "./recording/recorder.ts";
import type { RelayMetrics } from "./relay/relay.ts";

/** Reason a completion is not recorded. `not_a_project`: not in `entity/project` form, such as OpenAI project ids. */
export type UnrecordedReason = "no_project" | "not_a_project";

export type ReportUnrecorded = ReturnType<typeof createUnrecorded>;

export type ReportUnmetered = ReturnType<typeof createUnmetered>;

/** Registers the gateway metrics. Labels are route patterns and our own names, never client paths or models. */
export function registerMetrics(
  registry: Registry,
  { openRequests, recorder }: { readonly openRequests: () => number; readonly recorder: Recorder },
): RelayMetrics {
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
  const gauge = (name: string, help: string, read: () => number): Gauge =>
    new Gauge({
      name: `sumtree_gateway_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge("open_requests", "Open relayed requests", openRequests);
  gauge("completions_pending", "Completions waiting to be recorded", () => recorder.counts().pending);
  addRecorderCounters(registry, recorder);
  return {
    ended: (route, outcome) => requests.inc({ route, outcome }),
    firstByte: (route, seconds) => firstByte.observe({ route }, seconds),
  };
}

function addRecorderCounters(registry: Registry, recorder: Recorder): void {
  const counter = (kind: string, help: string, add: (to: Counter) => void, labelNames: string[] = []) =>
    new Counter({
      name: `sumtree_gateway_completions_${kind}_total`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        add(this);
      },
    });
  counter("recorded", "Completions recorded as calls", (to) => to.inc(recorder.counts().recorded));
  counter("dropped", "Completions dropped unrecorded", (to) => to.inc(recorder.counts().dropped));
  const unjournaled = "Completions queued in memory only, because the journal rejected them";
  counter("unjournaled", unjournaled, (to) => to.inc(recorder.counts().unjournaled));
  const recovered = "Completions recovered from the journal of a killed process, by kind (finished or cut)";
  const addKinds = (to: Counter): void => {
    for (const [kind, count] of Object.entries(recorder.counts().recovered)) to.inc({ kind }, count);
  };
  counter("recovered", recovered, addKinds, ["kind"]);
}

/** Creates the report of unmeasured requests: to the operator in a metric, and in the log for each pattern. */
export function createUnmetered(registry: Registry, clock: Clock, log: FastifyBaseLogger) {
  const name = "sumtree_gateway_unmetered_total";
  const help = "Relayed requests whose usage is not measured, by the pattern of their path";
  const relayed = new Counter({ name, help, labelNames: ["path"], registers: [registry] });
  const logs = new Map<string, CountedLog>();
  return (path: string): void => {
    relayed.inc({ path });
    const ofPath = logs.get(path) ?? new CountedLog(clock);
    logs.set(path, ofPath);
    ofPath.add(1, (count) => log.warn({ path, count }, "requests relayed unmeasured"));
  };
}

/** Creates the report of unrecorded completions: to its client in a header, to the operator in a metric and the log. */
export function createUnrecorded(registry: Registry, clock: Clock) {
  const name = "sumtree_gateway_unrecorded_total";
  const help = "Completions relayed unrecorded, by reason";
  const relayed = new Counter({ name, help, labelNames: ["reason"], registers: [registry] });
  const logged = new CountedLog(clock);
  return ({ log, grant }: FastifyRequest, reply: FastifyReply, reason: UnrecordedReason): void => {
    relayed.inc({ reason });
    void reply.header("x-sumtree-recorded", `no; reason=${reason}`);
    if (reason === "no_project") return;
    const message = "completion not recorded: project is not entity/project";
    logged.add(1, (count) => log.warn({ reason, key_id: grant.keyId, count }, message));
  };
}
