import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PROFILES, type Profile } from "../../src/ingest/otlp/producers.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/clients.md"), "utf8");

const names = (list: readonly string[] | undefined): string =>
  list === undefined || list.length === 0 ? "–" : list.map((name) => `\`${name}\``).join(", ");

function rowOf(profile: Profile): string {
  const {
    producer,
    scope,
    spans,
    excludesCache,
    reasoningInTotal,
    excludesDescendants,
    raw,
    response,
    model,
    session,
    user,
  } = profile;
  const origin = spans === undefined ? scope : spans;
  const cells = [
    producer,
    `${spans === undefined ? "" : "spans "}\`${origin.source.replaceAll("\\/", "/").replaceAll("|", "\\|")}\``,
    excludesCache === undefined ? "in the prompt" : `beside it: ${excludesCache.which}`,
    reasoningInTotal === undefined ? "in the output" : `in the total alone: ${reasoningInTotal.which}`,
    excludesDescendants === undefined ? "–" : excludesDescendants.which,
    [names(raw), response?.in ?? "–", model?.in ?? "–"].filter((cell) => cell !== "–").join("; ") || "–",
    names([...(session ?? []), ...(user ?? [])]),
  ];
  return `| ${cells.join(" | ")} |`;
}

it.each(PROFILES)("docs/clients.md describes the profile of $producer", (profile) => {
  expect(page).toContain(rowOf(profile));
});

it("docs/clients.md lists no other producers", () => {
  const [, table] = page.split("| producer | scope | cached tokens |");
  const rows = table!.split("\n\n")[0]!.split("\n").slice(2);
  expect(rows).toEqual(PROFILES.map(rowOf));
});
