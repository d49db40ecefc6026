"""OpenPipe's ART: a model is registered, asked, trained on what it answered, and deleted; all through the gateway."""

import asyncio
import json
import os

import art
from art.serverless.backend import ServerlessBackend

KEY, BASE, PROJECT = os.environ["SUMTREE_KEY"], os.environ["OPENAI_BASE_URL"], os.environ["PROJECT"]
entity, project = PROJECT.split("/")


async def main() -> None:
    backend = ServerlessBackend(api_key=KEY, base_url=BASE)
    model = art.TrainableModel(name="agent-001", project=project, entity=entity, base_model="base/forest")
    await model.register(backend)
    assert model.id and model.entity == entity, model
    assert await backend._get_step(model) == 0
    headers = {"OpenAI-Project": PROJECT}
    totals = []

    async def rollout(reward: float) -> art.Trajectory:
        ask = [{"role": "user", "content": f"How much? {reward}"}]
        answer = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=ask, logprobs=True, extra_headers=headers
        )
        totals.append(answer.usage.total_tokens)
        return art.Trajectory(messages_and_choices=[*ask, answer.choices[0]], reward=reward)

    groups = [art.TrajectoryGroup([await rollout(step + n / 4) for n in range(4)]) for step in range(2)]
    # `train` is this, and then asks W&B's package, which is not here, for its run
    config = art.TrainConfig(learning_rate=1e-5)
    steps = [metrics async for metrics in backend._train_model(model, groups, config, {})]
    assert len(steps) == 2, steps
    assert await backend._get_step(model) == 1
    kept = [checkpoint.step async for checkpoint in backend._client.models.checkpoints.list(model_id=model.id)]
    assert kept == [0, 1], kept
    gone = await backend._client.models.checkpoints.delete(model_id=model.id, steps=[0, 7])
    assert (gone.deleted_count, gone.not_found_steps) == (1, [7]), gone
    await backend.delete(model)
    await backend.close()
    print("\nRESULT " + json.dumps({"counted": totals}))


asyncio.run(main())
