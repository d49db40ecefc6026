import { describe, expect, it } from "vitest";
import { generateKey } from "../../../../src/http/auth/api-key.ts";
import { clientHeaders, upstreamHeaders } from "../../../../src/gateway/relay/headers.ts";

const options = {
  credential: { header: "authorization", value: "Bearer operator" },
  requestId: "r1",
  contentLength: undefined,
  identity: false,
} as const;

const OURS = generateKey().text;
/** A root key can have any form. */
const ROOT = "a-root-key-of-at-least-32-characters";
const OTHER = generateKey().text;

describe("upstreamHeaders", () => {
  it("passes what is on the list, and replaces the credential", () => {
    const headers = upstreamHeaders(
      {
        authorization: "Bearer st_secret",
        accept: "application/json",
        "content-type": "application/json",
        "openai-project": "acme/forest",
        "openai-organization": "org",
        "x-stainless-lang": "js",
        traceparent: "00-a-b-01",
        "user-agent": "OpenAI/JS 7",
      },
      options,
    );
    expect(headers).toEqual({
      authorization: "Bearer operator",
      accept: "application/json",
      "content-type": "application/json",
      "openai-project": "acme/forest",
      "openai-organization": "org",
      "x-stainless-lang": "js",
      traceparent: "00-a-b-01",
      "user-agent": "OpenAI/JS 7",
      "x-request-id": "r1",
    });
  });

  it.each([
    ["cookie", "session=1"],
    ["proxy-authorization", "Basic x"],
    ["x-api-key", "k"],
    ["api-key", "k"],
    ["x-forwarded-for", "10.0.0.1"],
    ["forwarded", "for=10.0.0.1"],
    ["host", "gateway"],
    ["te", "trailers"],
    ["transfer-encoding", "chunked"],
    ["upgrade", "websocket"],
    ["keep-alive", "timeout=5"],
    ["expect", "100-continue"],
    ["if-none-match", "x"],
    ["x-sumtree-trace-id", "t"],
    ["x-sumtree-project", "a/b"],
  ])("keeps %s here", (name, value) => {
    expect(Object.keys(upstreamHeaders({ [name]: value }, options))).toEqual([
      "x-request-id",
      "authorization",
    ]);
  });

  it("drops headers that Connection names, and headers that repeat the client's secret", () => {
    const headers = upstreamHeaders(
      {
        authorization: "Bearer st_secret",
        connection: "keep-alive, OpenAI-Beta",
        "openai-beta": "x",
        "user-agent": "curl st_secret",
      },
      { ...options, credential: undefined },
    );
    expect(headers).toEqual({ "x-request-id": "r1" });
  });

  it("sends a key where its API looks for it", () => {
    const credential = { header: "x-api-key", value: "operator" } as const;
    expect(upstreamHeaders({ "x-api-key": "st_secret" }, { ...options, credential })).toEqual({
      "x-request-id": "r1",
      "x-api-key": "operator",
    });
  });

  it.each([
    [{ authorization: "Bearer sk-ant-oat-own" }, { authorization: "Bearer sk-ant-oat-own" }],
    [{ "x-api-key": "sk-own" }, { "x-api-key": "sk-own" }],
    [
      { authorization: "Bearer own", "x-api-key": "sk-own" },
      { authorization: "Bearer own", "x-api-key": "sk-own" },
    ],
    [{}, { authorization: "Bearer operator" }],
    // a key of ours never goes on, wherever it is sent
    [{ authorization: `Bearer ${OURS}` }, { authorization: "Bearer operator" }],
    [{ "x-api-key": OTHER }, { authorization: "Bearer operator" }],
    [{ authorization: `bearer  ${OTHER}`, "x-api-key": "sk-own" }, { "x-api-key": "sk-own" }],
    [{ "x-api-key": ROOT }, { authorization: "Bearer operator" }, ROOT],
    [{ "user-agent": `curl ${OURS}` }, { authorization: "Bearer operator" }],
  ])("beside a key of ours in x-sumtree-key, %j becomes %j", (sent, passed, ours = OURS) => {
    expect(upstreamHeaders({ ...sent, "x-sumtree-key": ours }, options)).toEqual({
      "x-request-id": "r1",
      ...passed,
    });
  });

  it("sends the length of the body, and asks for plain bytes when they will be read", () => {
    const headers = upstreamHeaders(
      { "accept-encoding": "gzip" },
      { ...options, contentLength: 5, identity: true },
    );
    expect([headers["content-length"], headers["accept-encoding"]]).toEqual(["5", "identity"]);
  });
});

describe("clientHeaders", () => {
  it("passes rate limits, retry advice and ids, and no cookies or connection headers", () => {
    const headers = clientHeaders({
      "content-type": "application/json",
      "retry-after": "7",
      "retry-after-ms": "7000",
      "x-should-retry": "false",
      "x-ratelimit-remaining-requests": "1",
      "x-request-id": "up",
      "openai-processing-ms": "5",
      "set-cookie": ["a=1"],
      server: "vllm",
      connection: "close",
      "transfer-encoding": "chunked",
    });
    expect(headers).toEqual({
      "content-type": "application/json",
      "retry-after": "7",
      "retry-after-ms": "7000",
      "x-should-retry": "false",
      "x-ratelimit-remaining-requests": "1",
      "x-request-id": "up",
      "openai-processing-ms": "5",
    });
  });

  it("tells proxies on the way not to hold a stream back", () => {
    expect(clientHeaders({ "content-type": "text/event-stream" })).toEqual({
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
  });
});
