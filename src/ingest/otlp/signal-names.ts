/** Names that OTLP has for the same things in traces, logs and metrics. */
export interface SignalNames {
  readonly signal: "traces" | "logs" | "metrics";
  /** Name of its requests and responses, without these words. */
  readonly service: string;
  /** Members of a request in JSON. */
  readonly resources: string;
  readonly scopes: string;
  readonly items: string;
  /** Member of a response in JSON: how many were rejected. */
  readonly rejected: string;
  /** In sentences: what is rejected. */
  readonly counted: string;
}

export const TRACES: SignalNames = {
  signal: "traces",
  service: "ExportTraceService",
  resources: "resourceSpans",
  scopes: "scopeSpans",
  items: "spans",
  rejected: "rejectedSpans",
  counted: "spans",
};

export const LOGS: SignalNames = {
  signal: "logs",
  service: "ExportLogsService",
  resources: "resourceLogs",
  scopes: "scopeLogs",
  items: "logRecords",
  rejected: "rejectedLogRecords",
  counted: "log records",
};

export const METRICS: SignalNames = {
  signal: "metrics",
  service: "ExportMetricsService",
  resources: "resourceMetrics",
  scopes: "scopeMetrics",
  items: "metrics",
  rejected: "rejectedDataPoints",
  counted: "data points",
};
