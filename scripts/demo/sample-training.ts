import type { SampleFeedback } from "./sample-feedback.ts";
import type { SampleCall } from "./sample-traces.ts";

const BASE = "Qwen/Qwen3-14B";
const NAME = "assistant";

/** The model of the project that is trained, as the training service takes it. */
export function modelOf(project: string) {
  const [entity, name] = project.split("/");
  return { entity, project: name, name: NAME, base_model: BASE, return_existing: true };
}

const checkpoint = (project: string, step: number): string =>
  `wandb-artifact:///${project}/${NAME}:step${step}`;

/** USD per token: a small trained model in place of a large one. */
export function pricesOf(project: string, fromMs: number) {
  const effective_date = new Date(fromMs).toISOString();
  const price = (prompt_token_cost: number, completion_token_cost: number) => ({
    prompt_token_cost,
    completion_token_cost,
    effective_date,
  });
  return {
    [BASE]: price(8e-7, 32e-7),
    [`wandb-artifact:///${project}/${NAME}`]: price(2e-7, 8e-7),
  };
}

const QUESTIONS = [
  "Where is my parcel?",
  "When does it arrive?",
  "Can I return it?",
  "Why was it sent back?",
  "Can a neighbour take it?",
] as const;

interface Answers {
  readonly llm: string;
  /** Number of passing answers in five. */
  readonly good: number;
  readonly completionTokens: number;
}

/** Answers of the base model, and of checkpoints: the second is better and cheaper, the third says too much. */
export function answersOf(project: string, which: "base" | "checkpoints"): readonly Answers[] {
  if (which === "base") return [{ llm: BASE, good: 2, completionTokens: 420 }];
  return [
    { llm: checkpoint(project, 1), good: 2, completionTokens: 400 },
    { llm: checkpoint(project, 2), good: 4, completionTokens: 160 },
    { llm: checkpoint(project, 3), good: 3, completionTokens: 900 },
  ];
}

/** Rated chat completions, four of each question. */
export function ratedAnswers(
  project: string,
  { llm, good, completionTokens }: Answers,
  atMs: number,
): { readonly calls: readonly SampleCall[]; readonly feedback: readonly SampleFeedback[] } {
  const rounds = Array.from({ length: 20 }, (_, at) => ({
    question: QUESTIONS[at % QUESTIONS.length]!,
    isGood: at % QUESTIONS.length < good,
    id: `${llm.replaceAll(/\W+/g, "-")}-${at + 1}`,
    ms: atMs + at * 60_000,
  }));
  const calls = rounds.map(({ question, isGood, id, ms }): SampleCall => {
    const content = isGood ? `It is on its way: ${question}` : "I cannot say.";
    const usage = { requests: 1, prompt_tokens: 600, completion_tokens: completionTokens };
    return {
      id,
      trace_id: id,
      parent_id: null,
      op_name: "openai.chat.completions.create",
      started_at: new Date(ms).toISOString(),
      ended_at: new Date(ms + 1500).toISOString(),
      attributes: {},
      inputs: { model: llm, messages: [{ role: "user", content: question }] },
      output: {
        model: llm,
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
        usage: { ...usage, total_tokens: 600 + completionTokens },
      },
      summary: { usage: { [llm]: usage } },
    };
  });
  const feedback = rounds.map(({ isGood, id, ms }) => ({
    project_id: project,
    weave_ref: `weave:///${project}/call/${id}`,
    feedback_type: "answer.quality",
    payload: { score: isGood ? 1 : 0, passed: isGood },
    created_at: new Date(ms + 30_000).toISOString(),
  }));
  return { calls, feedback };
}
