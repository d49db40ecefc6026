import { useState } from "react";
import { useQuery } from "../api/use-query.ts";
import { costText } from "../components/figure.tsx";
import { LoadState } from "../components/notice.tsx";
import { formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { isPath } from "../state/search.ts";
import { printAddress, type UrlState } from "../state/url-state.ts";
import type { Go } from "../state/use-address.ts";
import { AddField } from "./add-field.tsx";
import { facetsWith, isAtMost, MAX_ADDED, rowsOf, type Facet, type FacetRow } from "./facets.ts";
import { loadFacets, MAX_VALUES } from "./load-facets.ts";
import type { TracesQuestion } from "./traces-question.ts";

export interface FacetColumnProps {
  readonly question: TracesQuestion;
  /** Changes when everything is asked again. */
  readonly round: number;
  readonly address: UrlState;
  readonly go: Go;
}

const SHOWN = 7;

/** Values that divide the listed traces. A click lists only those with a value, a click with Alt those without it. */
export function FacetColumn({ question, round, address, go }: FacetColumnProps) {
  // facets whose values are all shown
  const [long, setLong] = useState<readonly string[]>([]);
  const paths = (address.options["fields"] ?? "").split(" ").filter(isPath);
  const facets = facetsWith(paths);
  const { sort: _sort, ...selection } = question;
  const load = useQuery(
    question.query.faults.length > 0 ? undefined : JSON.stringify([selection, paths, long, round]),
    (asking) => loadFacets(question, facets, ({ key }) => (long.includes(key) ? MAX_VALUES : SHOWN), asking),
    `facets ${question.project}`,
  );
  const change = (more: Readonly<Record<string, string>>) => ({
    options: { ...address.options, ...more },
  });
  const hrefTo = (q: string): string => printAddress({ ...address, ...change({ q }) });
  const setPaths = (next: readonly string[]): void => go(change({ fields: next.join(" ") }));
  return (
    <div className={`facets ${load.isOld ? "old" : ""}`} aria-busy={load.busy}>
      {load.value === undefined && load.failure !== undefined && <LoadState load={load} />}
      {question.query.search === undefined && (
        <p className="dim">A query in JSON takes no more conditions: these are counts alone.</p>
      )}
      {facets.map((facet) => {
        const found = load.value?.get(facet.key);
        if (found === undefined) return null;
        const { search } = question.query;
        const rows = rowsOf(facet, found.values, search);
        const isAdded = paths.includes(facet.key);
        if (!isAdded && rows.every(({ label }) => label === "(none)")) return null;
        return (
          <FacetSection
            key={facet.key}
            {...{ facet, rows, hrefTo }}
            other={found.other}
            isAtMost={isAtMost(facet, search)}
            onMore={long.includes(facet.key) ? undefined : () => setLong([...long, facet.key])}
            onRemove={isAdded ? () => setPaths(paths.filter((path) => path !== facet.key)) : undefined}
          />
        );
      })}
      {paths.length < MAX_ADDED && (
        <AddField question={question} onAdd={(path) => setPaths([...new Set([...paths, path])])} />
      )}
    </div>
  );
}

interface FacetSectionProps {
  readonly facet: Facet;
  readonly rows: readonly FacetRow[];
  readonly other: number;
  readonly isAtMost: boolean;
  readonly hrefTo: (q: string) => string;
  readonly onMore: (() => void) | undefined;
  readonly onRemove: (() => void) | undefined;
}

function FacetSection(props: FacetSectionProps) {
  const { facet, rows, other, isAtMost, hrefTo, onMore, onRemove } = props;
  const [most, of] = [Math.max(...rows.map(({ count }) => count.traces), 1), oneLine(facet.label, 60)];
  return (
    <section aria-label={of}>
      <h2>
        <bdi>{of}</bdi>
        {onRemove !== undefined && (
          <button className="quiet" aria-label={`Remove the field ${of}`} onClick={onRemove}>
            ×
          </button>
        )}
      </h2>
      <ul>
        {rows.map((row) => (
          <FacetLine key={row.title} {...{ row, most, isAtMost, hrefTo }} />
        ))}
      </ul>
      {other > 0 && (
        <button className="quiet" disabled={onMore === undefined} onClick={onMore}>
          {formatCount(other).text} more{onMore === undefined && ": search for them"}
        </button>
      )}
    </section>
  );
}

interface FacetLineProps extends Pick<FacetSectionProps, "isAtMost" | "hrefTo"> {
  readonly row: FacetRow;
  readonly most: number;
}

function FacetLine({ row, most, isAtMost, hrefTo }: FacetLineProps) {
  const { label, title, count, chosen, only, without } = row;
  const traces = `${isAtMost ? "≤ " : ""}${formatCount(count.traces).text}`;
  const says =
    only === undefined
      ? "No condition selects these"
      : chosen === "only"
        ? "Click: all again"
        : `Click: only these${without === undefined ? "" : ". Alt-click: without them"}`;
  const together = isAtMost ? "\nAt most: one call has to match all that is searched for" : "";
  return (
    <li className={chosen ?? ""}>
      <a
        href={only === undefined ? undefined : hrefTo(only)}
        aria-current={chosen === "only" ? "true" : undefined}
        title={`${title}\n${traces} traces, ${costText(count)}\n${says}${together}`}
        onClick={(event) => {
          if (!event.altKey) return;
          // without this, browsers save the link
          event.preventDefault();
          if (without !== undefined) location.hash = hrefTo(without);
        }}
      >
        <i aria-hidden="true" style={{ width: `${(count.traces / most) * 100}%` }} />
        <bdi>{label}</bdi>
        <span className="number">{traces}</span>
        <span className="number">{costText(count)}</span>
      </a>
      {without !== undefined && (
        <a
          className="without"
          href={hrefTo(without)}
          aria-current={chosen === "without" ? "true" : undefined}
          aria-label={`Without ${title}`}
          title={chosen === "without" ? "Left out. Click: with these again" : "Without these"}
        >
          −
        </a>
      )}
    </li>
  );
}
