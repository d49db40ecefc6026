import { useState } from "react";
import { useQuery } from "../api/use-query.ts";
import { FieldPicker } from "../components/field-picker.tsx";
import { costText } from "../components/figure.tsx";
import { Menu } from "../components/menu.tsx";
import { LoadState } from "../components/notice.tsx";
import { formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { isPath } from "../state/search.ts";
import { printAddress, type UrlState } from "../state/url-state.ts";
import type { Go } from "../state/use-address.ts";
import { facetsWith, isAtMost, MAX_ADDED, rowsOf, type Facet, type FacetRow } from "./facets.ts";
import { loadFacets } from "./load-facets.ts";
import type { TracesQuestion } from "./traces-question.ts";

export interface FacetColumnProps {
  readonly question: TracesQuestion;
  /** Changes when everything is asked again. */
  readonly round: number;
  readonly address: UrlState;
  readonly go: Go;
}

/** Values that divide the listed traces. A click lists only those with a value, a click with Alt those without it. */
export function FacetColumn({ question, round, address, go }: FacetColumnProps) {
  const paths = (address.options["fields"] ?? "").split(" ").filter(isPath);
  const facets = facetsWith(paths);
  const { sort: _sort, ...selection } = question;
  const { search, faults } = question.query;
  const load = useQuery(
    faults.length > 0 ? undefined : JSON.stringify([selection, paths, round]),
    (asking) => loadFacets(question, facets, asking),
    `facets ${question.project}`,
  );
  const withOptions = (more: Readonly<Record<string, string>>): UrlState => ({
    ...address,
    options: { ...address.options, ...more },
  });
  const setPaths = (next: readonly string[]): void => go(withOptions({ fields: next.join(" ") }));
  return (
    <div className={`facets ${load.isOld ? "old" : ""}`} aria-busy={load.busy}>
      {load.value !== undefined && (
        <p className="heads dim" aria-hidden="true">
          <span>traces</span>
          <span>their cost</span>
        </p>
      )}
      {load.value === undefined && load.failure !== undefined && <LoadState load={load} />}
      {search === undefined && (
        <p className="dim">A query in JSON takes no more conditions: these are counts alone.</p>
      )}
      {facets.map((facet) => {
        const found = load.value?.get(facet.key);
        if (found === undefined) return null;
        const rows = rowsOf(facet, found.values, search);
        const isAdded = paths.includes(facet.key);
        if (!isAdded && rows.every(({ label }) => label === "(none)")) return null;
        return (
          <FacetSection
            key={facet.key}
            {...{ facet, rows }}
            other={found.other}
            isAtMost={isAtMost(facet, search)}
            hrefTo={(q) => printAddress(withOptions({ q }))}
            onRemove={isAdded ? () => setPaths(paths.filter((path) => path !== facet.key)) : undefined}
          />
        );
      })}
      {paths.length < MAX_ADDED && (
        <Menu label="Add a field" className="quiet">
          {(close) => (
            <FieldPicker
              label="Field of the root"
              place={question}
              onChoose={(path) => {
                close();
                setPaths([...new Set([...paths, path])]);
              }}
            />
          )}
        </Menu>
      )}
    </div>
  );
}

const SHOWN = 7;

interface FacetSectionProps {
  readonly facet: Facet;
  readonly rows: readonly FacetRow[];
  /** Number of values that are not among the rows. */
  readonly other: number;
  readonly isAtMost: boolean;
  readonly hrefTo: (q: string) => string;
  readonly onRemove: (() => void) | undefined;
}

function FacetSection({ facet, rows, other, isAtMost, hrefTo, onRemove }: FacetSectionProps) {
  const [isLong, setLong] = useState(false);
  const [most, of] = [Math.max(...rows.map(({ count }) => count.traces), 1), oneLine(facet.label, 60)];
  // a chosen value stays in sight
  const shown = isLong ? rows : rows.filter(({ chosen }, at) => at < SHOWN || chosen !== undefined);
  const more = other + rows.length - shown.length;
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
        {shown.map((row) => (
          <FacetLine key={`${row.label}\n${row.title}`} {...{ row, most, isAtMost, hrefTo }} />
        ))}
      </ul>
      {more > 0 && (
        <button className="quiet" disabled={isLong} onClick={() => setLong(true)}>
          {formatCount(more).text} more{isLong && ": search for them"}
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
          aria-label={`Without ${label}`}
          title={chosen === "without" ? "Left out. Click: with these again" : "Without these"}
        >
          −
        </a>
      )}
    </li>
  );
}
