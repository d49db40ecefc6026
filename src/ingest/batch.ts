import type { CallPart } from "../calls/call-part.ts";
import type { CallWriter } from "../calls/call-writer.ts";
import type { Project } from "../shared/project.ts";

export interface Accepted {
  readonly project: Project;
  readonly part: CallPart;
}

/** Stores what was accepted, project by project, in the order it came. */
export async function writeAccepted(writer: CallWriter, accepted: readonly Accepted[]): Promise<void> {
  const byProject = new Map<Project, CallPart[]>();
  for (const { project, part } of accepted) {
    const parts = byProject.get(project);
    if (parts === undefined) byProject.set(project, [part]);
    else parts.push(part);
  }
  await Promise.all([...byProject].map(([project, parts]) => writer.write(project, parts)));
}
