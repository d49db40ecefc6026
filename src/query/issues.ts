import type { Issue } from "../shared/errors.ts";

/** The path to something in the request: `["query", "$expr", "$eq", 1]`. */
export type Loc = Issue["loc"];

/** The maximum number of issues reported. A body of a megabyte can contain a hundred thousand. */
const MAX_ISSUES = 100;
const MAX_QUOTED = 80;

/** Collects the issues of a request, all of them up to a bound. */
export class Issues {
  readonly found: Issue[] = [];

  /** Returns undefined, so that a parser can say `return issues.add(…)`. */
  add(loc: Loc, type: string, msg: string): undefined {
    if (this.found.length < MAX_ISSUES) this.found.push({ loc, msg, type });
  }
}

/** A user's text in a message: quoted and shortened. */
export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}
