"""Datasets, models and evaluations: published, run, and read back."""

import asyncio
import os

import weave

client = weave.init(os.environ["PROJECT"])

from ask import MODEL, QUESTION, openai_client

# a dataset, published, read back by name and by reference, iterated, and one row longer
rows = [{"question": f"What is {n} + {n}?", "expected": str(2 * n)} for n in range(7)]
published = weave.publish(weave.Dataset(name="sums", rows=rows))
client.flush()
dataset = weave.ref("sums").get()
assert len(dataset.rows) == 7, len(dataset.rows)
assert [dict(row) for row in dataset] == rows, list(dataset)
assert dataset.rows[3]["expected"] == "6"
row = dataset.rows[3]
assert weave.ref(row.ref.uri).get()["expected"] == "6", row.ref.uri
longer = dataset.add_rows([{"question": "What is 8 + 8?", "expected": "16"}])
client.flush()
assert longer.rows[7]["expected"] == "16"
assert len(weave.ref("sums:v0").get().rows) == 7
assert len(weave.ref("sums:latest").get().rows) == 8

# one too large for a single request of the SDK
many = [{"n": n, "text": "x" * 3000} for n in range(12_000)]
weave.publish(weave.Dataset(name="many", rows=many))
client.flush()
back = weave.ref("many").get()
assert len(back.rows) == 12_000, len(back.rows)
assert sum(row["n"] for row in back) == sum(range(12_000))


class Adder(weave.Model):
    model_name: str

    @weave.op
    def predict(self, question: str) -> str:
        openai_client().chat.completions.create(model=self.model_name, messages=QUESTION)
        a, b = question.removeprefix("What is ").removesuffix("?").split(" + ")
        return str(int(a) + int(b))


@weave.op
def exact(expected: str, output: str) -> dict:
    return {"correct": expected == output}


class Length(weave.Scorer):
    limit: int

    @weave.op
    def score(self, output: str) -> float:
        return float(len(output) <= self.limit)


adder = Adder(model_name=MODEL)
evaluation = weave.Evaluation(name="sums", dataset=longer, scorers=[exact, Length(limit=1)])
summary = asyncio.run(evaluation.evaluate(adder))
assert summary["exact"]["correct"] == {"true_count": 8, "true_fraction": 1.0}, summary
assert summary["Length"]["mean"] == 5 / 8, summary
client.flush()

roots = client.get_calls(filter={"trace_roots_only": True})
[run] = [call for call in roots if "Evaluation.evaluate" in call.op_name]
assert run.output["exact"]["correct"]["true_count"] == 8, run.output
client.flush()
again = client.get_evaluation(weave.publish(evaluation).uri)
assert len(again.dataset.rows) == 8 and len(again.scorers) == 2, again
model = weave.ref("Adder").get()
assert model.predict("What is 3 + 4?") == "7"
assert {"sums", "many", "Adder"} <= {obj.object_id for obj in client._objects()}
client.finish()
