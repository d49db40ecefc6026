/** Publishes a dataset, reads it back, evaluates a model on it in both ways that the SDK has. Environment as weave-trace. */
import * as weave from "weave";
import { tell } from "./tell.ts";

const client = await weave.init(process.env["PROJECT"]!);

const rows = [
  { id: "0", sentence: "He no likes ice cream.", big: 2 ** 53 - 1 },
  { id: "1", sentence: "Sie mögen 🍦.", nothing: null },
];
const dataset = new weave.Dataset({ name: "grammar", rows });
const ref = await dataset.save();
const loaded = await client.get(ref);

const model = weave.op(
  async function model({ datasetRow }: { datasetRow: { sentence: string } }) {
    return { text: datasetRow.sentence.toUpperCase(), usage: { prompt_tokens: 10, completion_tokens: 2 } };
  },
  { summarize: ({ usage }) => ({ usage: { "gpt-4o": usage } }) },
);
const isShort = weave.op(async function isShort({ modelOutput }: { modelOutput: { text: string } }) {
  return modelOutput.text.length < 15;
});
const evaluation = new weave.Evaluation({ name: "grammar-eval", dataset, scorers: [isShort] as never });
const summary = await evaluation.evaluate({ model });

const logger = new weave.EvaluationLogger({
  name: "logged",
  dataset: "grammar",
  model: { name: "my-model" },
});
for (const [index, row] of rows.entries()) {
  const prediction = logger.logPrediction({ sentence: row.sentence }, `answer ${index}`);
  await prediction.logScore("acc", index === 0 ? 0.5 : 1);
  await prediction.logScore("good", index === 0);
  await prediction.finish();
}
await logger.logSummary();

const image = weave.op(async function image() {
  return weave.weaveImage({ data: Buffer.from("not really a picture"), imageType: "png" });
});
await image();
await client.waitForBatchProcessing();

tell({ ref: ref.uri(), loaded: loaded.rows.rows, summary, calls: (await client.getCalls()).length });
