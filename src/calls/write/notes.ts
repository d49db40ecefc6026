import type { Engine } from "../../store/engine.ts";
import { createCallNotes, type NoteCalls } from "./note-calls.ts";
import { createTraceNotes, type NoteTraces } from "./note-traces.ts";

/** Notes what finds calls, before they are written. */
export interface Notes {
  readonly noteTraces: NoteTraces;
  readonly noteCalls: NoteCalls;
}

export function createNotes(engine: Engine): Notes {
  return { noteTraces: createTraceNotes(engine), noteCalls: createCallNotes(engine) };
}
