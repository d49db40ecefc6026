import type { SeededRandom } from "../../helpers/seeded-random.ts";

/** One exchange through the gateway, drawn at random. */
export interface Plan {
  readonly kind: "chat" | "events" | "plain" | "upload";
  readonly recorded: boolean;
  /** Bytes sent in the tested direction. */
  readonly bytes: Buffer;
  /** Lengths of the writes that it is sent in. */
  readonly writes: readonly number[];
  /** Milliseconds before a write, for some of them. */
  readonly pauses: ReadonlyMap<number, number>;
  readonly ending: "whole" | "reset" | "short" | "left";
  readonly reader: "fast" | "slow" | "pausing";
  readonly readerSeed: number;
}

const MAX_EVENT_BYTES = 4 * 2 ** 20;
const MAX_WRITE_BYTES = 2 ** 20;
const MAX_WRITES = 250;
export const DONE = "data: [DONE]\n\n";

export function planOf(random: SeededRandom): Plan {
  const pick = <T>(...from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!;
  const kind = pick<Plan["kind"]>("chat", "chat", "chat", "events", "plain", "upload");
  const bytes = kind === "chat" || kind === "events" ? eventsOf(kind, random) : bodyOf(random);
  const ending = pick<Plan["ending"]>("whole", "whole", "whole", "reset", "short", "left");
  const sent = ending === "whole" ? bytes : bytes.subarray(0, Math.floor(random.next() * bytes.length));
  const writes = writesOf(sent.length, random);
  const pauses = new Map<number, number>();
  for (let n = Math.floor(random.next() * 4); n > 0; n--) {
    pauses.set(Math.floor(random.next() * writes.length), 1 + Math.floor(random.next() * 15));
  }
  return {
    kind,
    recorded: random.next() < 0.5,
    bytes: sent,
    writes,
    pauses,
    ending,
    reader: pick<Plan["reader"]>("fast", "fast", "slow", "pausing"),
    readerSeed: Math.floor(random.next() * 2 ** 31),
  };
}

/** Between `from` and `to`, each order of magnitude as likely as the next. */
function anyOrder(random: SeededRandom, from: number, to: number): number {
  return Math.floor(from * (to / from) ** random.next());
}

function eventsOf(kind: "chat" | "events", random: SeededRandom): Buffer {
  const events: Buffer[] = [];
  let left = anyOrder(random, 100, 2 * MAX_EVENT_BYTES);
  while (left > 0 && events.length < 2000) {
    const size = Math.min(left, anyOrder(random, 1, MAX_EVENT_BYTES));
    events.push(eventOf(kind, size, random));
    left -= size + 80;
  }
  if (kind === "chat") events.push(Buffer.from(DONE));
  return Buffer.concat(events);
}

function eventOf(kind: "chat" | "events", size: number, random: SeededRandom): Buffer {
  const text = textOf(size, random);
  const end = random.next() < 0.2 ? "\r\n\r\n" : "\n\n";
  return Buffer.from(
    kind === "chat"
      ? `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"${text}"}}]}${end}`
      : `event: e${end.slice(0, end.length / 2)}data: ${text}${end}`,
  );
}

/** Every stretch of it differs from the next, so that a byte out of order shows. */
function textOf(size: number, random: SeededRandom): string {
  const at = Math.floor(random.next() * 1e9);
  let block = "";
  for (let n = 0; n < 64; n++) block += `${(at + n * 7919).toString(36)}ä`;
  return block.repeat(Math.ceil(size / block.length)).slice(0, size);
}

function bodyOf(random: SeededRandom): Buffer {
  return Buffer.from(textOf(anyOrder(random, 1, MAX_EVENT_BYTES), random));
}

function writesOf(total: number, random: SeededRandom): number[] {
  const writes: number[] = [];
  const largest = anyOrder(random, 1, MAX_WRITE_BYTES);
  for (let left = total; left > 0;) {
    const size = writes.length > MAX_WRITES ? left : Math.min(left, anyOrder(random, 1, largest + 1));
    const write = Math.min(size, MAX_WRITE_BYTES);
    writes.push(write);
    left -= write;
  }
  return writes;
}
