import type { FastifyInstance, FastifyRequest } from "fastify";
import { ingestAccess } from "../../http/auth/guard.ts";
import type { CallEvent } from "../../calls/events/call-event.ts";
import type { CallWriter } from "../../calls/write/call-writer.ts";
import { describedBody } from "../../http/schemas/validation.ts";
import type { Project } from "../../shared/project.ts";
import type { PointStore } from "../../agent-metrics/point-store.ts";
import { agentPointOf } from "./agents/agent-point-of.ts";
import { eventOfLog } from "./agents/event-of-log.ts";
import { exportResponse } from "./response.ts";
import type { Attributes } from "./attributes.ts";
import { jsonDecoder } from "./decode-json.ts";
import { decodeLogRecord } from "./decode-log-record.ts";
import { decodeMetric } from "./decode-metric.ts";
import { itemsOfProtobuf } from "./decode-protobuf.ts";
import { decodeSpan } from "./decode-span.ts";
import { projectOf } from "./project-of.ts";
import { exportRoutes, PROTOBUF } from "./route-schemas.ts";
import { LOGS, METRICS, TRACES, type SignalNames } from "./signal-names.ts";
import { storeItems, type ItemStore } from "./store-items.ts";
import { toCallEvent } from "./to-call-event.ts";

export interface OtlpDeps {
  readonly writer: CallWriter;
  readonly bodyLimitBytes: number;
  /** True to keep prompts, tool arguments and outputs of coding agents. */
  readonly keepsContent: boolean;
  readonly points: Pick<PointStore, "write">;
  /** Counts items that are accepted, but not stored. */
  readonly onIgnored: (signal: SignalNames["signal"], count: number) => void;
}

/** Registers the OTLP/HTTP routes for traces, logs and metrics. 2xx means durable. */
export async function otlpRoutes(app: FastifyInstance, deps: OtlpDeps): Promise<void> {
  const { writer, keepsContent, points } = deps;
  const write = (project: Project, events: readonly CallEvent[]) => writer.write(project, events);
  app.addContentTypeParser(
    [PROTOBUF, "application/protobuf"],
    { parseAs: "buffer" },
    async (_request: FastifyRequest, body: Buffer) => body,
  );
  app.addHook("onRequest", readKeyHeader);
  registerExport(app, TRACES, deps, {
    decode: (encoded) => [decodeSpan(encoded)],
    convert: (span, { origin, apiKey, project }) =>
      toCallEvent(span, origin, apiKey, { project, keepsContent }),
    write,
  });
  registerExport(app, LOGS, deps, {
    decode: (encoded) => [decodeLogRecord(encoded)],
    convert: (record, { origin, ...sender }) => eventOfLog(record, origin, { ...sender, keepsContent }),
    write,
  });
  registerExport(app, METRICS, deps, {
    decode: decodeMetric,
    convert: (point, sender) => agentPointOf({ ...sender, point }),
    write: (_project, sent) => points.write(sent),
  });
}

function registerExport<Decoded extends object, Stored extends object>(
  app: FastifyInstance,
  names: SignalNames,
  { bodyLimitBytes: bodyLimit, onIgnored }: OtlpDeps,
  store: ItemStore<Decoded, Stored>,
): void {
  const itemsOfJson = jsonDecoder(names);
  const config = { access: ingestAccess, tag: "otel" };
  for (const { path, schema } of exportRoutes(names)) {
    app.post(path, { config, bodyLimit, schema, ...describedBody }, async (request, reply) => {
      const { body, headers, grant } = request;
      const isProtobuf = Buffer.isBuffer(body);
      const items = isProtobuf ? itemsOfProtobuf(body, names) : itemsOfJson(body ?? {});
      const sender = {
        projectOf: (resource: Attributes) => projectOf(resource, headers, grant),
        apiKey: grant.keyId,
      };
      const { rejections, ignored } = await storeItems(items, sender, store);
      if (ignored > 0) onIgnored(names.signal, ignored);
      void reply.type(isProtobuf ? PROTOBUF : "application/json; charset=utf-8");
      return exportResponse(rejections, names, isProtobuf ? "protobuf" : "json");
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
