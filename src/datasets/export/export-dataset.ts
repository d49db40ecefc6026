import type { Engine } from "../../store/engine.ts";
import { createHoldout, withoutHeldOut } from "../select/holdout.ts";
import { lastOfThreads, readCandidates } from "../select/read-candidates.ts";
import { selectCalls } from "../select/select-calls.ts";
import { chatLine, exampleLines, trajectoryLine } from "./lines.ts";
import { ManifestWriter, type ManifestOptions } from "./manifest-writer.ts";
import { preferenceLines } from "./preferences.ts";

/** Starts an export: its id, and its lines in chunks. One store gives the same bytes. Throws as the selection does. */
export async function exportDataset(
  engine: Engine,
  options: ManifestOptions,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly chunks: AsyncGenerator<Buffer> }> {
  const { project, question } = options;
  const { format, feedback, holdout, seed } = question;
  const keys = await selectCalls(engine, project, { question, signal });
  const manifest = new ManifestWriter(engine, options);
  const only = question.only ?? undefined;
  const condition = format === "chat" ? undefined : (feedback ?? undefined);
  const reading = { engine, project, signal, only, condition, isFull: () => manifest.isFull };
  const read = readCandidates(keys, reading);
  const kept = only === "last_of_thread" ? lastOfThreads(read) : read;
  const candidates = withoutHeldOut(kept, createHoldout(holdout ?? 0, seed ?? 0));
  const lines = {
    chat: () => exampleLines(candidates, chatLine),
    trajectories: () => exampleLines(candidates, trajectoryLine),
    preference: () => preferenceLines(candidates, reading),
  };
  return { id: manifest.id, chunks: manifest.write(lines[format]()) };
}
