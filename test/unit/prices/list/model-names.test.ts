import { describe, expect, it } from "vitest";
import { modelNames } from "../../../../src/prices/list/model-names.ts";

const written = (llmId: string): readonly string[] =>
  modelNames(llmId).map((name) => (name.seller === undefined ? name.id : `${name.id} of ${name.seller}`));

describe("modelNames", () => {
  it.each([
    ["gpt-4o", ["gpt-4o"]],
    ["gpt-4o-2024-08-06", ["gpt-4o-2024-08-06", "gpt-4o"]],
    ["claude-3-5-sonnet-20241022", ["claude-3-5-sonnet-20241022", "claude-3-5-sonnet"]],
    ["claude-3-sonnet@20240229", ["claude-3-sonnet@20240229", "claude-3-sonnet"]],
    ["mistral-large-latest", ["mistral-large-latest", "mistral-large"]],
    ["claude-sonnet-4@default", ["claude-sonnet-4@default", "claude-sonnet-4"]],
    ["gemini-1.5-pro@001", ["gemini-1.5-pro@001", "gemini-1.5-pro"]],
    ["openai/gpt-4o", ["openai/gpt-4o", "gpt-4o of openai", "gpt-4o"]],
    ["OpenAI/gpt-4o", ["OpenAI/gpt-4o", "gpt-4o of openai", "gpt-4o"]],
    ["openai:gpt-4o", ["openai:gpt-4o", "gpt-4o of openai", "gpt-4o"]],
    ["models/gemini-2.5-pro", ["models/gemini-2.5-pro", "gemini-2.5-pro"]],
    [
      "openai/gpt-4o-2024-08-06",
      [
        "openai/gpt-4o-2024-08-06",
        "gpt-4o-2024-08-06 of openai",
        "gpt-4o-2024-08-06",
        "openai/gpt-4o",
        "gpt-4o of openai",
        "gpt-4o",
      ],
    ],
    ["azure/eu/gpt-4o", ["azure/eu/gpt-4o", "eu/gpt-4o of azure", "eu/gpt-4o", "gpt-4o of azure", "gpt-4o"]],
    [
      "openrouter/anthropic/claude-2",
      [
        "openrouter/anthropic/claude-2",
        "anthropic/claude-2 of openrouter",
        "anthropic/claude-2",
        "claude-2 of anthropic",
        "claude-2",
      ],
    ],
    [
      "projects/p/locations/us-central1/publishers/anthropic/models/claude-opus-4@20250514",
      [
        "projects/p/locations/us-central1/publishers/anthropic/models/claude-opus-4@20250514",
        "claude-opus-4@20250514 of google",
        "claude-opus-4@20250514",
        "projects/p/locations/us-central1/publishers/anthropic/models/claude-opus-4",
        "claude-opus-4 of google",
        "claude-opus-4",
      ],
    ],
    [
      "us.anthropic.claude-3-haiku-20240307-v1:0",
      [
        "us.anthropic.claude-3-haiku-20240307-v1:0",
        "us.anthropic.claude-3-haiku-20240307-v1:0 of aws",
        "anthropic.claude-3-haiku-20240307-v1:0 of aws",
        "claude-3-haiku-20240307 of anthropic",
        "claude-3-haiku-20240307",
        "claude-3-haiku of anthropic",
        "claude-3-haiku",
      ],
    ],
    [
      "bedrock/us-east-1/amazon.nova-pro-v1:0",
      [
        "bedrock/us-east-1/amazon.nova-pro-v1:0",
        "us-east-1/amazon.nova-pro-v1:0 of aws",
        "us-east-1/amazon.nova-pro-v1:0",
        "amazon.nova-pro-v1:0 of aws",
        "amazon.nova-pro-v1:0",
        "nova-pro of aws",
        "nova-pro",
      ],
    ],
    [
      "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.meta.llama3-2-1b-instruct-v1:0",
      expect.arrayContaining([
        "eu.meta.llama3-2-1b-instruct-v1:0 of aws",
        "meta.llama3-2-1b-instruct-v1:0 of aws",
      ]),
    ],
  ])(
    "of %s are, best first, the exact id, those without prefixes, those without a date",
    (llmId, expected) => {
      expect(written(llmId)).toEqual(expected);
    },
  );

  it("keep to the host where a host sells under its own prices", () => {
    expect(written("groq/openai/gpt-oss-120b")).toEqual([
      "groq/openai/gpt-oss-120b",
      "openai/gpt-oss-120b of groq",
      "gpt-oss-120b of groq",
    ]);
  });

  it.each([
    "meta-llama/Llama-3.3-70B",
    "deepseek-ai/DeepSeek-R1",
    "ft:gpt-4o:acme::x",
    "gpt-4-0613",
    "a/",
    "/a",
  ])("of %s are itself alone: nothing in it is a known prefix or a date", (llmId) => {
    expect(written(llmId)).toEqual([llmId]);
  });

  it("are few, however long the id and however many prefixes it has", () => {
    expect(written("openai/".repeat(30) + "gpt-4o").length).toBeLessThan(30);
    expect(written("openai/".repeat(10_000) + "gpt-4o")).toHaveLength(1);
    expect(written("")).toEqual([]);
  });
});
