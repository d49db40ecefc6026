import { chunksOf } from "../shared/chunks-of.ts";
import type { Project } from "../shared/project.ts";
import type { Hour } from "./hour.ts";

const HOURS_PER_CHUNK = 24;

/** Splits hours into chunks of one project, ascending. */
export function inChunks<Some extends Hour>(
  hours: readonly Some[],
): readonly { readonly project: Project; readonly hours: readonly Some[] }[] {
  return [...Map.groupBy(hours, ({ project }) => project)].flatMap(([project, ofProject]) => {
    const ascending = ofProject.toSorted((a, b) => a.hour - b.hour);
    return chunksOf(ascending, HOURS_PER_CHUNK).map((some) => ({ project, hours: some }));
  });
}
