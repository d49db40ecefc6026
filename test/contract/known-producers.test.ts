import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PROFILES, type Profile } from "../../src/ingest/otlp/producers.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/clients.md"), "utf8");

const listed = (label: string, list: readonly (string | undefined)[]): string[] => {
  const known = list.filter((name) => name !== undefined);
  return known.length === 0 ? [] : [`${label} ${known.join(", ")}`];
};
const quoted = (list: readonly string[] = []): string[] => list.map((name) => `\`${name}\``);

function rowOf(profile: Profile): string {
  const { producer, scope, spans, excludesCache, reasoningInTotal, excludesDescendants } = profile;
  const { raw, response, model, session, user } = profile;
  const origin = spans === undefined ? scope : spans;
  const differences = [
    ...listed("cached tokens beside the prompt:", [excludesCache?.which]),
    ...listed("thoughts only in the total:", [reasoningInTotal?.which]),
    ...listed("add up:", [excludesDescendants?.which]),
    ...listed("counts, model in", [...quoted(raw), response?.in, model?.in]),
    ...listed("session, user in", quoted([...(session ?? []), ...(user ?? [])])),
  ];
  const cells = [
    producer,
    `${spans === undefined ? "" : "spans "}\`${origin.source.replaceAll("\\/", "/").replaceAll("|", "\\|")}\``,
    differences.join("; "),
  ];
  return `| ${cells.join(" | ")} |`.replace("|  |", "| |");
}

it.each(PROFILES)("docs/clients.md describes the profile of $producer", (profile) => {
  expect(page).toContain(rowOf(profile));
});

it("docs/clients.md knows no other producers", () => {
  const [, table] = page.split("| producer | scope | difference |");
  const rows = table!.split("\n\n")[0]!.split("\n").slice(2);
  expect(rows).toEqual(PROFILES.map(rowOf));
});
