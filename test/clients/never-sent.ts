/** One answer of the provider that is played. */
interface Served {
  readonly model: string;
  readonly usage: Readonly<Record<string, unknown>>;
  readonly streamed?: boolean;
}
type Sent = (served: Served) => readonly Served[];

const modelAsked: Sent = (served) => [{ ...served, model: served.model.replace("-2024-08-06", "") }];
const noCache: Sent = (served) => [{ ...served, usage: { ...served.usage, prompt_tokens_details: {} } }];
const noStreams: Sent = (served) => (served.streamed === true ? [] : [served]);
/** AutoGen asks for no usage of streams, and sends zeros. */
const noUsageOfStreams: Sent = (served) => [served.streamed === true ? { ...served, usage: {} } : served];
const noStreamsOfAnthropic: Sent = (served) =>
  "input_tokens" in served.usage ? noStreams(served) : [served];

/** Usage that some recordings lack, because the package never sends it (docs/clients.md). */
const LACKING: Readonly<Record<string, readonly Sent[]>> = {
  "autogen-agents": [noCache, noUsageOfStreams],
  "llama-index-openinference": [modelAsked],
  "llama-index-own-tracing": [noStreams],
  "mirascope-calls": [modelAsked],
  "mlflow-autolog": [noStreamsOfAnthropic],
  "semantic-kernel-chat": [modelAsked, noCache],
};

/** Returns the part of the served usage that a package sends. */
export function sentOf(recording: string, served: readonly Served[]): readonly Served[] {
  const lacking = LACKING[recording] ?? [];
  return lacking.reduce<readonly Served[]>((left, sent) => left.flatMap(sent), served);
}
