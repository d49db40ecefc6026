import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { Attributes } from "./attributes.ts";
import type { Encoded, SentItem } from "./encoded.ts";
import { MAX_REQUEST_ITEMS, tooManyItems } from "./limits.ts";
import type { Rejections } from "./response.ts";
import type { SpanOrigin } from "./span.ts";

/** Items decoded before the event loop runs other work. */
const ITEMS_PER_TURN = 200;

/** Sender of items. */
export interface Sender {
  /** Resolves the project of a resource. */
  readonly projectOf: (resource: Attributes) => Project;
  /** The id of the API key. */
  readonly apiKey: string;
}

/** How the items of a signal are read and stored. A text is the reason of a rejection; `undefined` is ignored. */
export interface ItemStore<Decoded extends object, Stored extends object> {
  /** Decodes an item: one span, one log record, many data points. */
  readonly decode: (encoded: Encoded) => Iterable<Decoded | string | undefined>;
  readonly convert: (
    decoded: Decoded,
    from: { readonly origin: SpanOrigin; readonly project: Project; readonly apiKey: string },
  ) => Stored | string | undefined;
  /** Resolves when all are durable. Errors: `StorageError`. */
  readonly write: (project: Project, items: readonly Stored[]) => Promise<unknown>;
}

/**
 * Stores the items of a request; resolves when they are durable, with the reasons for rejected ones and the count of ignored
 * ones. Errors: those of `projectOf`, if no item has a valid project; payload_too_large; `StorageError`.
 */
export async function storeItems<Decoded extends object, Stored extends object>(
  sent: readonly SentItem[],
  { projectOf, apiKey }: Sender,
  { decode, convert, write }: ItemStore<Decoded, Stored>,
): Promise<{ readonly rejections: Rejections; readonly ignored: number }> {
  const destinations = new Map<Attributes, Destination<Stored> | AppError>();
  const rejections = new Map<string, number>();
  let ignored = 0;
  let count = 0;
  for (const [index, { origin, encoded }] of sent.entries()) {
    if (index % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) await nextTurn();
    const { resource } = origin;
    const destination = destinations.get(resource) ?? findDestination<Stored>(resource, projectOf);
    destinations.set(resource, destination);
    for (const decoded of decode(encoded)) {
      count += 1;
      if (count > MAX_REQUEST_ITEMS) throw tooManyItems();
      if (count % ITEMS_PER_TURN === 0) await nextTurn();
      if (destination instanceof AppError) addTo(rejections, reasonOf(destination));
      else {
        const { project } = destination;
        const item = typeof decoded === "object" ? convert(decoded, { origin, project, apiKey }) : decoded;
        if (item === undefined) ignored += 1;
        else if (typeof item === "string") addTo(rejections, item);
        else destination.items.push(item);
      }
    }
  }
  await writeAll([...destinations.values()], write);
  return { rejections, ignored };
}

function addTo(rejections: Map<string, number>, reason: string): void {
  rejections.set(reason, (rejections.get(reason) ?? 0) + 1);
}

/** The project of one resource's items. */
interface Destination<Stored> {
  readonly project: Project;
  readonly items: Stored[];
}

function findDestination<Stored>(
  resource: Attributes,
  projectOf: Sender["projectOf"],
): Destination<Stored> | AppError {
  try {
    return { project: projectOf(resource), items: [] };
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

async function writeAll<Stored>(
  destinations: readonly (Destination<Stored> | AppError)[],
  write: (project: Project, items: readonly Stored[]) => Promise<unknown>,
): Promise<void> {
  const [rejection] = destinations.filter((one) => one instanceof AppError);
  if (rejection !== undefined && destinations.every((one) => one instanceof AppError)) throw rejection;
  const written = destinations.flatMap((one) =>
    one instanceof AppError || one.items.length === 0 ? [] : write(one.project, one.items),
  );
  await Promise.all(written);
}

function reasonOf(error: AppError): string {
  return error.issues[0]?.msg ?? error.message;
}
