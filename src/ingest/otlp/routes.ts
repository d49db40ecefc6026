import type { FastifyInstance, FastifyRequest, RequestPayload } from "fastify";
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

/** Traces of OpenTelemetry exporters, OTLP over HTTP. 2xx means durable. */
export async function otlpRoutes(
  app: FastifyInstance,
  { writer, bodyLimitBytes: bodyLimit }: OtlpDeps,
): Promise<void> {
  app.addContentTypeParser(
    [PROTOBUF, "application/protobuf"],
    (request: FastifyRequest, payload: RequestPayload) => app.bodies.read(request, payload),
  );
  app.addHook("onRequest", takeKeyHeader);

  const options = {
    config: { access: ingestAccess, largeBodies: true },
    bodyLimit,
    ...describedBody,
    schema: { body: exportReq, response: { 200: exportRes } },
  };
  for (const path of ["/otel/v1/traces", "/agents/otel/v1/traces"]) {
    app.post(path, options, async (request, reply) => {
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
async function takeKeyHeader(request: FastifyRequest): Promise<void> {
  const key = request.headers["wandb-api-key"];
  if (request.headers.authorization === undefined && typeof key === "string") {
    request.headers.authorization = `Bearer ${key}`;
  }
}
