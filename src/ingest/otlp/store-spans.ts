import { setImmediate as nextTurn } from "node:timers/promises";
import type { CallEvent } from "../../calls/events/call-event.ts";
import type { CallWriter } from "../../calls/write/call-writer.ts";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { Rejections } from "./response.ts";
import type { Attributes } from "./attributes.ts";
import type { SentSpan } from "./span.ts";
import { toCallEvent } from "./to-call-event.ts";

/** Spans decoded before the event loop runs other work. */
const SPANS_PER_TURN = 200;

/** Sender of spans. */
export interface Sender {
  /** Resolves the project of a resource. */
  readonly projectOf: (resource: Attributes) => Project;
  /** The id of the API key. */
  readonly apiKey: string;
}

/**
 * Stores spans as calls; resolves when they are durable, with the reasons for rejected ones. Errors: those of `projectOf`,
 * if no span has a valid project; `StorageError`.
 */
export async function storeSpans(
  spans: readonly SentSpan[],
  { projectOf, apiKey }: Sender,
  writer: CallWriter,
): Promise<Rejections> {
  const destinations = new Map<Attributes, Destination | AppError>();
  const rejections = new Map<string, number>();
  for (const [index, sent] of spans.entries()) {
    if (index % SPANS_PER_TURN === SPANS_PER_TURN - 1) await nextTurn();
    const { resource } = sent.origin;
    const destination = destinations.get(resource) ?? findDestination(resource, projectOf);
    destinations.set(resource, destination);
    const event = destination instanceof AppError ? reasonOf(destination) : readEvent(sent, apiKey);
    if (typeof event === "string") rejections.set(event, (rejections.get(event) ?? 0) + 1);
    else if (!(destination instanceof AppError)) destination.events.push(event);
  }
  const found = [...destinations.values()];
  const [rejection] = found.filter((one) => one instanceof AppError);
  if (rejection !== undefined && found.every((one) => one instanceof AppError)) throw rejection;
  const written = found.flatMap((one) =>
    one instanceof AppError ? [] : writer.write(one.project, one.events),
  );
  await Promise.all(written);
  return rejections;
}

/** The project of one resource's spans. */
interface Destination {
  readonly project: Project;
  readonly events: CallEvent[];
}

function findDestination(resource: Attributes, projectOf: Sender["projectOf"]): Destination | AppError {
  try {
    return { project: projectOf(resource), events: [] };
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

function readEvent({ origin, decode }: SentSpan, apiKey: string): CallEvent | string {
  const span = decode();
  return typeof span === "string" ? span : toCallEvent(span, origin, apiKey);
}

function reasonOf(error: AppError): string {
  return error.issues[0]?.msg ?? error.message;
}
