import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";

/** A body that means to cost more than it is worth. */
export interface HostileBody {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** How many bytes are sent at a time. */
  readonly chunkBytes: number;
}

const key = (n: number): string => `k${n.toString(36)}`;

/** Values that are written again and again, by their number. */
const shapes: Readonly<Record<string, (n: number) => string>> = {
  objects: () => "{}",
  lists: () => "[]",
  numbers: () => "0",
  members: () => '{"a":{}}',
  "escaped keys": () => String.raw`{"\n":0,"a\u0062":1}`,
  "long integers": () => "12345678901234567",
  "not finite": () => "NaN",
  fractions: (n) => `0.${n}1`,
  texts: (n) => `"${n} \\n \\" lorem ipsum dolor sit amet ${"x".repeat(n % 200)}"`,
  "deep lists": () => `${"[".repeat(300)}${"]".repeat(300)}`,
  unclosed: () => "[",
};

/** One value of many parts: a list of them, or an object with keys of their own. */
const values: Readonly<Record<string, (parts: readonly string[]) => string>> = {
  list: (parts) => `[${parts.join()}]`,
  "own keys": (parts) => `{${parts.map((part, n) => `"${key(n)}":${part}`).join()}}`,
  "own escaped keys": (parts) => `{${parts.map((part, n) => String.raw`"\n${key(n)}":${part}`).join()}}`,
};

const project_id = "acme/attacker";
const when = "2026-01-01T00:00:00Z";
const head = JSON.stringify({
  project_id,
  id: "x",
  trace_id: "x",
  op_name: "x",
  started_at: when,
  ended_at: when,
});
const call = (more: string): string => `${head.slice(0, -1)},${more}}`;
const feedback = (payload: string): string =>
  `{"project_id":"${project_id}","weave_ref":"weave:///x","feedback_type":"x","payload":${payload}}`;
const span = (more: string): string =>
  `{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"x","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000001000000000",${more}}`;
const spans = (some: string): string => `{"resourceSpans":[{"scopeSpans":[{"spans":${some}}]}]}`;

type Write = (list: string, value: string) => string;

/** Positions of a list, or of one large value, by route. */
const routes: readonly (readonly [path: string, write: Write])[] = [
  ["/call/start", (_list, value) => `{"start":${call(`"inputs":{"a":${value}}`)}}`],
  ["/call/end", (_list, value) => `{"end":${call(`"output":${value}`)}}`],
  ["/call/end", (_list, value) => `{"end":${call(`"summary":{"weave":${value},"usage":${value}}`)}}`],
  ["/call/upsert_batch", (list) => `{"batch":${list}}`],
  ["/v2/acme/attacker/calls/complete", (list) => `{"batch":${list}}`],
  [
    "/v2/acme/attacker/calls/complete",
    (_list, value) => `{"batch":[${call(`"attributes":{"a":${value}}`)}]}`,
  ],
  ["/feedback/batch/create", (list) => `{"batch":${list}}`],
  ["/feedback/create", (_list, value) => feedback(`{"a":${value}}`)],
  ["/table/create", (list) => `{"table":{"project_id":"${project_id}","rows":${list}}}`],
  ["/obj/create", (_list, value) => `{"obj":{"project_id":"${project_id}","object_id":"x","val":${value}}}`],
  ["/otel/v1/traces", (list) => spans(list)],
  ["/otel/v1/traces", (list) => spans(`[${span(`"attributes":${list}`)}]`)],
  ["/trace/usage", (list) => `{"project_id":"${project_id}","filter":{"call_ids":${list}}}`],
  ["/trace/usage", (list) => `{"project_id":"${project_id}","query":{"$expr":{"$and":${list}}}}`],
  ["/feedback/stats", (list) => `{"project_id":"${project_id}","start":"${when}","metrics":${list}}`],
  ["/cost/create", (_list, value) => `{"project_id":"${project_id}","costs":${value}}`],
];

const encodings: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gzipSync(bytes, { level: 9 }),
  deflate: (bytes) => deflateSync(bytes),
};

/** Bodies of up to `maxBytes`, decompressed. */
export function hostileBodies(maxBytes: number): fc.Arbitrary<HostileBody> {
  return fc
    .record({
      shape: fc.constantFrom(...Object.keys(shapes)),
      value: fc.constantFrom(...Object.keys(values)),
      route: fc.constantFrom(...routes),
      encoding: fc.constantFrom(...Object.keys(encodings)),
      size: fc.double({ min: 0.001, max: 1, noNaN: true }),
      chunkBytes: fc.constantFrom(1000, 65_536, 2 ** 30),
    })
    .map(({ shape, value, route: [path, write], encoding, size, chunkBytes }): HostileBody => {
      const parts: string[] = [];
      for (let bytes = 0; bytes < size * maxBytes; bytes += parts.at(-1)!.length + 8)
        parts.push(shapes[shape]!(parts.length));
      const body = write(`[${parts.join()}]`, values[value]!(parts));
      const bytes = encodings[encoding]!(Buffer.from(body));
      return {
        name: `${path}: ${value} of ${parts.length} ${shape}, ${encoding}, ${bytes.length} bytes`,
        path,
        headers: { "content-type": "application/json", "content-encoding": encoding, project_id },
        bytes,
        // one that takes thousands of writes says nothing more
        chunkBytes: Math.max(chunkBytes, Math.ceil(bytes.length / 2000)),
      };
    });
}
