from otel import openai_options, start_tracing

provider = start_tracing()

from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument()

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from opentelemetry import trace

options = openai_options()
project = options.pop("project")
model = ChatOpenAI(
    model="gpt-4o",
    stream_usage=True,
    default_headers={"OpenAI-Project": project} if project else None,
    **options,
)


def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city}: sunny"


with trace.get_tracer("app").start_as_current_span("app"):
    create_agent(model, tools=[weather]).invoke({"messages": [{"role": "user", "content": "The weather?"}]})
    for _ in model.stream("And the answer?"):
        pass
provider.shutdown()
