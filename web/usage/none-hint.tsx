import { formatPercent } from "../format/figure.ts";
import { canBeOfTraces, nameOfGroup, sentAs } from "../state/groups.ts";
import type { LoadedUsage } from "./load-usage.ts";
import { MEASURES } from "./measures.ts";

const WORTH_SAYING = 0.05;

/** Tells how to set the field of a group where many calls or traces lack it. */
export function NoneHint({ loaded, byTrace }: { readonly loaded: LoadedUsage; readonly byTrace: string }) {
  const { stats, question } = loaded;
  const { groups, of, measure } = question;
  const { valueOf } = MEASURES[measure].addsUp === true ? MEASURES[measure] : MEASURES.cost;
  return groups.map((group) => {
    const without = stats.groups.filter(({ key }) => key[group] === null);
    const sum = without.reduce((all, { total }) => all + (valueOf(total) ?? 0), 0);
    const part = sum / (valueOf(stats.total) || 1);
    const field = sentAs(group);
    if (part <= WORTH_SAYING || field === undefined) return null;
    const isSwitch = of === "calls" && canBeOfTraces(groups);
    return (
      <p key={group} className="hint">
        {formatPercent(part).text} without {nameOfGroup(group)}:{" "}
        {isSwitch && (
          <>
            it may stand on the root alone, so <a href={byTrace}>count by trace</a>, or{" "}
          </>
        )}
        send <code>{field}</code> with {of === "calls" ? "each call" : "the root call"}.
      </p>
    );
  });
}
