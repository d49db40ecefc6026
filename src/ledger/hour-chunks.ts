import type { Project } from "../shared/project.ts";
import type { Hour } from "./hour.ts";

const HOURS_PER_CHUNK = 24;

export interface HoursOfProject {
  readonly project: Project;
  readonly hours: readonly number[];
}

/** Some hours of one project at a time. */
export function inChunks(hours: readonly Hour[]): readonly HoursOfProject[] {
  return [...Map.groupBy(hours, ({ project }) => project)].flatMap(([project, ofProject]) => {
    const ascending = ofProject.map(({ hour }) => hour).sort((a, b) => a - b);
    const chunks: HoursOfProject[] = [];
    for (let from = 0; from < ascending.length; from += HOURS_PER_CHUNK)
      chunks.push({ project, hours: ascending.slice(from, from + HOURS_PER_CHUNK) });
    return chunks;
  });
}
