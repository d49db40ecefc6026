"""Exported files as Hugging Face `datasets` reads them, and as `trl` takes them: conversational language modeling and preferences."""

import json
import os
from pathlib import Path

import trl
from datasets import Dataset, Features, Json, List, Value, disable_progress_bars, load_dataset
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from trl.data_utils import apply_chat_template, is_conversational, unpair_preference_dataset

FOLDER = Path(os.environ["DATASETS"])
IDS = {"trace_id": Value("string"), "call_id": Value("string")}
# as docs/datasets.md names them
MESSAGES, TOOLS = List(Json()), {"tools": List(Json())}
FEATURES = {
    "chat": Features({"messages": MESSAGES, **TOOLS}),
    "preference": Features({"prompt": MESSAGES, "chosen": MESSAGES, "rejected": MESSAGES, **TOOLS}),
    "trajectories": Features(
        {"messages_and_choices": MESSAGES, **TOOLS, "reward": Value("float64"), "metrics": Json(), "metadata": IDS}
    ),
}
# of a model that takes tools; trl has it as text
TEMPLATE = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel()), chat_template=TEMPLATE)


def without_nulls(value: object) -> object:
    """Columns that are inferred have null for a member that is absent."""
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def read(name: str) -> Dataset:
    file = FOLDER / f"{name}.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    columns = {column for line in lines for column in line}
    inferred = load_dataset("json", data_files=str(file), split="train")
    assert set(inferred.column_names) == columns == set(FEATURES[name]), inferred.features
    assert [without_nulls(row) for row in inferred.to_list()] == [without_nulls(line) for line in lines]

    # read in small pieces, of which some lack members that others have
    stated = load_dataset("json", data_files=str(file), split="train", features=FEATURES[name], chunksize=2000)
    assert stated.features == FEATURES[name], stated.features
    rows = stated.to_list()
    assert rows == [{"tools": None, **line} for line in lines]
    assert any(row["tools"] for row in rows) and not all(row["tools"] for row in rows)
    return stated


def texts_of(messages: list[dict]) -> list[str]:
    """What a text of these messages must contain: what was said, and the calls of tools. This template takes no images."""
    said = [message["content"] for message in messages if isinstance(message["content"], str)]
    calls = [call["function"] for message in messages for call in message.get("tool_calls", [])]
    return [*said, *(text for call in calls for text in (call["name"], call["arguments"]))]


def assert_has(text: str, messages: list[dict]) -> None:
    for part in texts_of(messages):
        assert part in text, (part, text)


def check_chat(rows: Dataset) -> None:
    for row in rows:
        assert is_conversational(row), row
        messages = row["messages"]
        assert messages[-1]["role"] == "assistant", row
        formatted = apply_chat_template({"messages": messages}, TOKENIZER, tools=row["tools"])
        assert list(formatted) == ["text"], formatted
        assert_has(formatted["text"], messages)
        assert_has(formatted["text"], [{"content": tool["function"]["name"]} for tool in row["tools"] or []])


def check_preference(rows: Dataset) -> None:
    for row in rows:
        tools = row.pop("tools")
        assert is_conversational(row), row
        formatted = apply_chat_template(row, TOKENIZER, tools=tools)
        assert set(formatted) == {"prompt", "chosen", "rejected"}, formatted
        assert formatted["chosen"] != formatted["rejected"], formatted
        for answer in ("chosen", "rejected"):
            assert_has(formatted["prompt"] + formatted[answer], row["prompt"] + row[answer])
    unpaired = unpair_preference_dataset(rows.remove_columns("tools"))
    assert unpaired["label"].count(True) == unpaired["label"].count(False) == len(rows), unpaired
    assert unpaired.num_rows == 2 * len(rows) and is_conversational(unpaired[0]), unpaired


def main() -> None:
    disable_progress_bars()
    files = {name: read(name) for name in FEATURES}
    check_chat(files["chat"])
    check_preference(files["preference"])
    print("\nRESULT " + json.dumps({name: rows.num_rows for name, rows in files.items()}))


main()
