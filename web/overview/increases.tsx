import { formatUsd } from "../format/figure.ts";
import { shortName } from "../format/op-name.ts";
import { oneLine } from "../format/plain-text.ts";
import { Cost, FormattedValue } from "../components/figure.tsx";
import type { HrefTo } from "../state/url-state.ts";
import { nextGroup, searchOfValue } from "../state/drill.ts";
import { nameOfGroup } from "../state/groups.ts";
import type { Increase, Overview } from "./load-overview.ts";

interface IncreasesProps {
  readonly overview: Overview;
  readonly hasBefore: boolean;
  readonly hrefTo: HrefTo;
}

/** The largest increases of cost, and where each comes from. */
export function Increases({ overview: { increases }, hasBefore, hrefTo }: IncreasesProps) {
  return (
    <section>
      <h2>What changed</h2>
      {!hasBefore && <p className="dim">It is compared with nothing: choose a period beside the range.</p>}
      {hasBefore && increases.length === 0 && <p className="dim">Nothing costs more than before.</p>}
      {increases.length > 0 && (
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">costs more</th>
              <th scope="col" className="number">
                increase
              </th>
              <th scope="col" className="number">
                before
              </th>
              <th scope="col" className="number">
                now
              </th>
            </tr>
          </thead>
          <tbody>
            {increases.map((increase) => (
              <Row key={`${increase.by}\n${increase.name}`} {...{ increase, hrefTo }} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ increase, hrefTo }: { readonly increase: Increase } & Pick<IncreasesProps, "hrefTo">) {
  const { by, name, now, earlier, moreUsd } = increase;
  const q = searchOfValue(by, name);
  const shown = by === "op_name" ? shortName(name, null) : oneLine(name, 60);
  const isPartial = now.partial === true || earlier?.partial === true;
  return (
    <tr>
      <th scope="row">
        <a href={hrefTo("usage", { q, group: nextGroup([by]) })}>
          <bdi>{shown}</bdi>
        </a>{" "}
        <span className="dim">{nameOfGroup(by)}</span>
      </th>
      <td className="number">
        {isPartial ? "≈ +" : "+"}
        <FormattedValue figure={formatUsd(moreUsd)} />
      </td>
      <td className="number dim">{earlier === undefined ? "—" : <Cost total={earlier} />}</td>
      <td className="number">
        <a href={hrefTo("traces", { q, sort: "cost" })}>
          <Cost total={now} />
        </a>
      </td>
    </tr>
  );
}
