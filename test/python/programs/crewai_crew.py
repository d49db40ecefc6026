import os

os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED_CREWAI"] = "true"
os.environ["CREWAI_TRACING_ENABLED"] = "false"

from otel import project_header, send_traceparent, start_tracing

provider = start_tracing()

from openinference.instrumentation.crewai import CrewAIInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor

CrewAIInstrumentor().instrument(tracer_provider=provider)
OpenAIInstrumentor().instrument(tracer_provider=provider)

from crewai import LLM, Agent, Crew, Task
from crewai.llms.hooks.base import BaseInterceptor


class Traceparent(BaseInterceptor):
    def on_outbound(self, message):
        send_traceparent(message)
        return message

    def on_inbound(self, message):
        return message


llm = LLM(
    model="openai/gpt-4o",
    base_url=os.environ["OPENAI_BASE_URL"],
    api_key=os.environ["OPENAI_API_KEY"],
    default_headers=project_header(),
    interceptor=Traceparent(),
)
agent = Agent(role="Reporter", goal="Report", backstory="Reports the answer.", llm=llm)
task = Task(description="Report the answer.", expected_output="The answer.", agent=agent)
Crew(agents=[agent], tasks=[task]).kickoff()
provider.shutdown()
