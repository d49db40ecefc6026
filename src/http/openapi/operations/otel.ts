import type { Operation, Operations } from "../operation.ts";

const PROTOBUF = "application/x-protobuf";
// without a schema: bytes, not text

const exporting: Omit<Operation, "id" | "summary"> = {
  description:
    "OTLP over HTTP, protobuf or JSON, plain or compressed. The project is the header `project_id` or a resource attribute. " +
    "Spans that cannot be stored are counted in the response. A response of 200 means that the others are on disk.",
  response: "Empty if all spans were stored",
  example: {
    request: {
      resourceSpans: [
        {
          resource: {
            attributes: [
              { key: "wandb.entity", value: { stringValue: "acme" } },
              { key: "wandb.project", value: { stringValue: "demo" } },
            ],
          },
          scopeSpans: [
            {
              spans: [
                {
                  traceId: "5b8efff798038103d269b633813fc60c",
                  spanId: "eee19b7ec3c1b174",
                  name: "chat gpt-4o",
                  startTimeUnixNano: "1768469400000000000",
                  endTimeUnixNano: "1768469402000000000",
                  attributes: [
                    { key: "gen_ai.request.model", value: { stringValue: "gpt-4o" } },
                    { key: "gen_ai.usage.input_tokens", value: { intValue: "600" } },
                    { key: "gen_ai.usage.output_tokens", value: { intValue: "150" } },
                  ],
                },
              ],
            },
          ],
        },
      ],
    },
    response: {},
  },
  also: { request: { [PROTOBUF]: {} }, response: { [PROTOBUF]: {} } },
};

export const otelOperations: Operations = {
  "POST /otel/v1/traces": {
    id: "exportTraces",
    summary: "Store spans of an OTLP/HTTP exporter",
    ...exporting,
  },
  "POST /agents/otel/v1/traces": {
    id: "exportAgentTraces",
    summary: "Store spans of agents, as the Weave SDKs send them",
    ...exporting,
  },
};
