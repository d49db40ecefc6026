import { exportReq, exportRes } from "./schema.ts";
import type { SignalNames } from "./signal-names.ts";

export const PROTOBUF = "application/x-protobuf";

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const whole = (key: string, intValue: string) => ({ key, value: { intValue } });

/** Summaries, with and without the prefix `/agents`; what is stored; one scope as an example. */
const TEXTS = {
  traces: {
    summary: "Store spans of an OTLP/HTTP exporter",
    agentSummary: "Store spans of agents, as the Weave SDKs send them",
    stored: "Spans that cannot be stored are counted in the response.",
    scope: {
      spans: [
        {
          traceId: "5b8efff798038103d269b633813fc60c",
          spanId: "eee19b7ec3c1b174",
          name: "chat gpt-4o",
          startTimeUnixNano: "1768469400000000000",
          endTimeUnixNano: "1768469402000000000",
          attributes: [
            text("gen_ai.request.model", "gpt-4o"),
            whole("gen_ai.usage.input_tokens", "600"),
            whole("gen_ai.usage.output_tokens", "150"),
          ],
        },
      ],
    },
  },
  logs: {
    summary: "Store events of coding agents, sent as log records",
    agentSummary: "Store events of coding agents, under the prefix of the Weave SDKs",
    stored:
      "Events of coding agents become calls. Log records that cannot be read are counted in the response; all others are ignored.",
    scope: {
      scope: { name: "com.anthropic.claude_code.events", version: "2.1.161" },
      logRecords: [
        {
          timeUnixNano: "1768469402000000000",
          body: { stringValue: "claude_code.api_request" },
          attributes: [
            text("event.name", "api_request"),
            text("model", "claude-sonnet-4-5"),
            whole("input_tokens", "600"),
            whole("output_tokens", "150"),
          ],
        },
      ],
    },
  },
  metrics: {
    summary: "Keep counters of coding agents",
    agentSummary: "Keep counters of coding agents, under the prefix of the Weave SDKs",
    stored:
      "Sums are kept for a day and never added to usage. Data points that cannot be read are counted in the response; those of " +
      "gauges, histograms and summaries are ignored.",
    scope: {
      scope: { name: "com.anthropic.claude_code", version: "2.1.161" },
      metrics: [
        {
          name: "claude_code.commit.count",
          sum: {
            aggregationTemporality: 1,
            isMonotonic: true,
            dataPoints: [{ timeUnixNano: "1768469400000000000", asInt: "1" }],
          },
        },
      ],
    },
  },
};

/** Returns the routes of a signal with their schemas. */
export function exportRoutes(names: SignalNames) {
  const { signal, resources, scopes, counted } = names;
  const { summary, agentSummary, stored, scope } = TEXTS[signal];
  const attributes = [text("wandb.entity", "acme"), text("wandb.project", "demo")];
  const schema = {
    description:
      "OTLP over HTTP, protobuf or JSON, plain or compressed. The project is a resource attribute, the header `project_id`, or that " +
      `of a key for one project. ${stored} A response of 200 means that what is stored is on disk.`,
    success: `Empty if no ${counted} were rejected`,
    example: {
      request: { [resources]: [{ resource: { attributes }, [scopes]: [scope] }] },
      response: {},
    },
    alsoTakes: PROTOBUF,
    alsoSends: PROTOBUF,
    body: exportReq(names),
    response: { 200: exportRes(names) },
  };
  const name = signal[0]!.toUpperCase() + signal.slice(1);
  return [
    { path: `/otel/v1/${signal}`, schema: { ...schema, operationId: `export${name}`, summary } },
    {
      path: `/agents/otel/v1/${signal}`,
      schema: { ...schema, operationId: `exportAgent${name}`, summary: agentSummary },
    },
  ];
}
