import type { FastifyInstance, FastifyRequest } from "fastify";
import { ingestAccess } from "../../http/auth/guard.ts";
import type { CallWriter } from "../../calls/write/call-writer.ts";
import { describedBody } from "../../http/schemas/validation.ts";
import { exportResponse } from "./response.ts";
import type { Attributes } from "./attributes.ts";
import { spansOfJson } from "./decode-json.ts";
import { spansOfProtobuf } from "./decode-protobuf.ts";
import { projectOf } from "./project-of.ts";
import { exportReq, exportRes } from "./schema.ts";
import { storeSpans } from "./store-spans.ts";

export interface OtlpDeps {
  readonly writer: CallWriter;
  readonly bodyLimitBytes: number;
}

const PROTOBUF = "application/x-protobuf";

const paths = [
  {
    path: "/otel/v1/traces",
    operationId: "exportTraces",
    summary: "Store spans of an OTLP/HTTP exporter",
  },
  {
    path: "/agents/otel/v1/traces",
    operationId: "exportAgentTraces",
    summary: "Store spans of agents, as the Weave SDKs send them",
  },
];

/** Registers the OTLP/HTTP routes for traces. 2xx means durable. */
export async function otlpRoutes(
  app: FastifyInstance,
  { writer, bodyLimitBytes: bodyLimit }: OtlpDeps,
): Promise<void> {
  app.addContentTypeParser(
    [PROTOBUF, "application/protobuf"],
    { parseAs: "buffer" },
    async (_request: FastifyRequest, body: Buffer) => body,
  );
  app.addHook("onRequest", readKeyHeader);

  const options = {
    config: { access: ingestAccess, tag: "otel" },
    bodyLimit,
    ...describedBody,
  };
  for (const { path, ...text } of paths) {
    app.post(path, { ...options, schema: { ...exporting, ...text } }, async (request, reply) => {
      const { body, headers, grant } = request;
      const isProtobuf = Buffer.isBuffer(body);
      const spans = isProtobuf ? spansOfProtobuf(body) : spansOfJson(body ?? {});
      const sender = {
        projectOf: (resource: Attributes) => projectOf(resource, headers, grant),
        apiKey: grant.keyId,
      };
      const rejections = await storeSpans(spans, sender, writer);
      void reply.type(isProtobuf ? PROTOBUF : "application/json; charset=utf-8");
      return exportResponse(rejections, isProtobuf ? "protobuf" : "json");
    });
  }
}

/** Exporters configured for Weave send their key in a separate header. */
async function readKeyHeader(request: FastifyRequest): Promise<void> {
  const key = request.headers["wandb-api-key"];
  if (request.headers.authorization === undefined && typeof key === "string") {
    request.headers.authorization = `Bearer ${key}`;
  }
}

const exporting = {
  description:
    "OTLP over HTTP, protobuf or JSON, plain or compressed. The project is the header `project_id` or a resource attribute. " +
    "Spans that cannot be stored are counted in the response. A response of 200 means that the others are on disk.",
  success: "Empty if all spans were stored",
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
  alsoTakes: PROTOBUF,
  alsoSends: PROTOBUF,
  body: exportReq,
  response: { 200: exportRes },
};
