/** A coding agent: how its telemetry is recognised, and what its attributes and events mean. */
export interface Agent {
  /** As in `attributes.sumtree.agent`. */
  readonly name: string;
  /** Names of its services and scopes. */
  readonly service: RegExp;
  /** Beginning of its event names, which some records leave out. */
  readonly prefix: string;
  /** Attributes with the session and with the prompt; the first present one. */
  readonly session: readonly string[];
  readonly turn?: readonly string[];
  /** Attributes with ids of the request that other sources know too. `session`: they know only the session. */
  readonly requests?: readonly string[] | "session";
  /** Attributes that are kept besides those of every agent. */
  readonly kept?: readonly string[];
  /** By event name without prefix, with `_` for `.`. Any other event is a call without usage. */
  readonly events?: Readonly<Record<string, AgentEvent>>;
}

export interface AgentEvent {
  /** Operation name, by default the event name with its prefix. */
  readonly op?: string;
  /** `detail`: ignored unless it has usage or an error. `twin`: adds its completion id to the call of `event`. */
  readonly is?: "detail" | "correction" | { readonly twin: string };
  /** Attributes that identify the event, if it has all; by default all attributes and the time. */
  readonly seeds?: readonly (readonly string[])[];
  /** The first with a count. `conventions`: as in OpenTelemetry's GenAI conventions. */
  readonly counts?: readonly EventCounts[] | "conventions";
  /** Attributes with a stated cost, and how many of its unit are one USD. */
  readonly cost?: Readonly<Record<string, number>>;
  readonly completionId?: string;
}

/** Attributes with token counts. */
export interface EventCounts {
  readonly input: string;
  readonly output: string;
  readonly cacheRead: string;
  readonly cacheWritten?: string;
  /** The part of it that is kept for an hour. */
  readonly cacheWritten1h?: string;
  readonly excludesCache?: true;
  readonly reasoning?: string;
  readonly toolInput?: string;
  readonly total?: string;
  /** True if input and output exclude tools and reasoning, unless the total says otherwise. */
  readonly excludesParts?: true;
}
