import { formatUsd } from "../format/figure.ts";
import { Cost, FormattedValue } from "../components/figure.tsx";
import { nextGroup, searchOfValue } from "../state/drill.ts";
import { labelOf, nameOfGroup, subjectOf } from "../state/groups.ts";
import type { OverviewPart } from "./load-overview.ts";

/** The largest changes of cost, and where each comes from. */
export function Changes({ overview: { changes, question }, hrefTo }: OverviewPart) {
  const none = question.before
    ? "Nothing costs more or less than before."
    : "It is compared with nothing: choose a period beside the range.";
  return (
    <section>
      <h2>What changed</h2>
      {changes.length === 0 && <p className="dim">{none}</p>}
      <ul className="attention">
        {changes.map(({ by, name, now, before, moreUsd }) => {
          const of = subjectOf([by], undefined);
          const q = searchOfValue(by, name, of);
          const within = { q, group: nextGroup([by], of), of: of === "calls" ? of : "" };
          return (
            <li key={`${by}\n${name}`}>
              <span className={moreUsd > 0 ? "sign failed" : "sign"}>{moreUsd > 0 ? "▲" : "▼"}</span>
              <span>
                <a href={hrefTo("usage", within)}>
                  <bdi>{labelOf({ [by]: name })}</bdi>
                </a>{" "}
                <span className="dim">
                  {nameOfGroup(by)}, from <Cost total={before} /> to <Cost total={now} />
                </span>
              </span>
              <a href={hrefTo("traces", { q, sort: "cost" })}>
                {(now.partial === true || before.partial === true) && "≈ "}
                {moreUsd > 0 && "+"}
                <FormattedValue figure={formatUsd(moreUsd)} />
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
