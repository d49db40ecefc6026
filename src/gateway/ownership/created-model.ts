import { isJsonObject, parseOrUndefined } from "../../shared/json.ts";
import type { JobModel } from "../../training-jobs/job.ts";

const MAX_CHARS = 1024;

/** Writes what the ledger keeps about a model, from the response that creates it; empty for what is no model. */
export function modelText(created: unknown): string {
  if (!isJsonObject(created)) return "";
  const { entity, project, name, base_model } = created;
  const names = [entity, project, name, base_model];
  if (!names.every((one) => typeof one === "string" && one.length <= MAX_CHARS)) return "";
  const output_model = names.slice(0, 3).join("/").toWellFormed();
  return JSON.stringify({ base_model: String(base_model).toWellFormed(), output_model } satisfies JobModel);
}

/** Reads such a text. */
export function modelIn(text: string): JobModel | undefined {
  return text === "" ? undefined : (parseOrUndefined(text) as JobModel);
}
