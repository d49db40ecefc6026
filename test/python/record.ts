import { toJson } from "@bufbuild/protobuf";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fromBinary } from "@bufbuild/protobuf";
import { gunzipSync } from "node:zlib";
import {
  ExportRequestSchema,
  InstrumentationScopeSchema,
  SpanSchema,
} from "../../src/ingest/otlp/otlp_pb.ts";
import { startPlayedProvider } from "./played-provider.ts";
import { PROGRAMS } from "./python-program.ts";

/**
 * Records what a Python program sends, and what the provider served meanwhile, as a fixture:
 * `npm run record:python PYTHON PROGRAM`, where PYTHON is the interpreter of an environment that has its packages.
 */
const [python, program] = process.argv.slice(2);
if (python === undefined || program === undefined)
  throw new Error("usage: npm run record:python PYTHON PROGRAM");

interface Json {
  readonly [name: string]: unknown;
}

const scopeSpans: Json[] = [];
const receiver = createServer((request, response) => {
  void buffer(request).then((sent) => {
    const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
    for (const group of fromBinary(ExportRequestSchema, body).resources) {
      for (const { scope, items } of group.scopes) {
        scopeSpans.push({
          scope: scope === undefined ? {} : toJson(InstrumentationScopeSchema, scope),
          spans: items.map((bytes) => withHexIds(toJson(SpanSchema, fromBinary(SpanSchema, bytes)) as Json)),
        });
      }
    }
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
});

function withHexIds(span: Json): Json {
  const hex = (text: unknown) => Buffer.from(typeof text === "string" ? text : "", "base64").toString("hex");
  const parent = hex(span["parentSpanId"]);
  return {
    ...span,
    traceId: hex(span["traceId"]),
    spanId: hex(span["spanId"]),
    ...(parent !== "" && { parentSpanId: parent }),
  };
}

receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");
const provider = await startPlayedProvider();
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
const child = spawn(python, [join(PROGRAMS, program)], {
  // outside of the checkout, whose revision some packages send
  cwd: tmpdir(),
  env: {
    ...process.env,
    PYTHONPATH: PROGRAMS,
    PYTHONDONTWRITEBYTECODE: "1",
    WAY: "alone",
    PROJECT: "acme/recorded",
    SUMTREE_URL: url,
    SUMTREE_KEY: "recorded",
    PROVIDER_URL: provider.url,
    OPENAI_BASE_URL: `${provider.url}/v1`,
    OPENAI_API_KEY: "played",
    ANTHROPIC_BASE_URL: provider.url,
  },
  stdio: "inherit",
});
const [exitCode] = (await once(child, "close")) as [number | null];
receiver.close();
receiver.closeAllConnections();
await provider.close();
if (exitCode !== 0) throw new Error(`${program} ended with ${exitCode}`);

const request = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: "sumtree.project", value: { stringValue: "acme/recorded" } }] },
      scopeSpans,
    },
  ],
};
const file = join(
  import.meta.dirname,
  "../fixtures/otlp/python",
  `${basename(program, ".py").replaceAll("_", "-")}.json`,
);
writeFileSync(file, `${JSON.stringify({ served: provider.takeServed(), request }, null, 1)}\n`);
