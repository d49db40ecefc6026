import { formatUsd } from "../format/figure.ts";
import { shortName } from "../format/op-name.ts";
import { oneLine } from "../format/plain-text.ts";
import { Cost, FormattedValue } from "../components/figure.tsx";
import { Table, type Column } from "../components/table.tsx";
import { nextGroup, searchOfValue } from "../state/drill.ts";
import { nameOfGroup } from "../state/groups.ts";
import type { HrefTo } from "../state/url-state.ts";
import type { Increase, Overview } from "./load-overview.ts";

interface IncreasesProps {
  readonly overview: Overview;
  readonly hasBefore: boolean;
  readonly hrefTo: HrefTo;
}

/** The largest increases of cost, and where each comes from. */
export function Increases({ overview: { increases }, hasBefore, hrefTo }: IncreasesProps) {
  const columns: readonly Column<Increase>[] = [
    {
      name: "costs more",
      cell: ({ by, name }) => (
        <>
          <a href={hrefTo("usage", { q: searchOfValue(by, name), group: nextGroup([by]) })}>
            <bdi>{by === "op_name" ? shortName(name, null) : oneLine(name, 60)}</bdi>
          </a>{" "}
          <span className="dim">{nameOfGroup(by)}</span>
        </>
      ),
    },
    {
      name: "increase",
      cell: ({ now, earlier, moreUsd }) => (
        <>
          {now.partial === true || earlier?.partial === true ? "≈ +" : "+"}
          <FormattedValue figure={formatUsd(moreUsd)} />
        </>
      ),
    },
    {
      name: "before",
      kind: "number dim",
      cell: ({ earlier }) => (earlier === undefined ? "—" : <Cost total={earlier} />),
    },
    {
      name: "now",
      cell: ({ by, name, now }) => (
        <a href={hrefTo("traces", { q: searchOfValue(by, name), sort: "cost" })}>
          <Cost total={now} />
        </a>
      ),
    },
  ];
  return (
    <section>
      <h2>What changed</h2>
      {!hasBefore && <p className="dim">It is compared with nothing: choose a period beside the range.</p>}
      {hasBefore && increases.length === 0 && <p className="dim">Nothing costs more than before.</p>}
      {increases.length > 0 && (
        <Table label="What changed" className="plain" columns={columns} rows={increases} />
      )}
    </section>
  );
}
