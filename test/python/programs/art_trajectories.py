"""OpenPipe's ART trains on exported trajectories, through the gateway."""

import asyncio
import json
import os
from pathlib import Path

import art
from art.serverless.backend import ServerlessBackend
from openai.types.chat.chat_completion import Choice

KEY, BASE, PROJECT = os.environ["SUMTREE_KEY"], os.environ["OPENAI_BASE_URL"], os.environ["PROJECT"]
entity, project = PROJECT.split("/")


def read(text: str) -> art.Trajectory:
    """As docs/datasets.md says."""
    line = json.loads(text)
    items = [Choice(**item) if "finish_reason" in item else item for item in line["messages_and_choices"]]
    trajectory = art.Trajectory(**{**line, "messages_and_choices": items})
    *asked, answer = items
    assert isinstance(answer, Choice) and not any(isinstance(item, Choice) for item in asked), trajectory
    assert [message["role"] for message in trajectory.messages()] == ["user", "assistant"], trajectory
    # no member is dropped, and none is added
    assert json.loads(trajectory.model_dump_json(exclude_unset=True)) == line, trajectory
    return trajectory


async def main() -> None:
    lines = Path(os.environ["TRAJECTORIES"]).read_text().splitlines()
    backend = ServerlessBackend(api_key=KEY, base_url=BASE)
    model = art.TrainableModel(name="agent-002", project=project, entity=entity, base_model="base/forest")
    await model.register(backend)
    groups = [art.TrajectoryGroup([read(line) for line in lines])]
    steps = [metrics async for metrics in backend._train_model(model, groups, art.TrainConfig(learning_rate=1e-5), {})]
    assert await backend._get_step(model) == 1
    await backend.close()
    print("\nRESULT " + json.dumps({"counted": [len(lines), len(steps)]}))


asyncio.run(main())
