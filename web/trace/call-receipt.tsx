import { postJson } from "../api/client.ts";
import type { Receipt } from "../api/routes.ts";
import { useRefetchOn, useQuery } from "../api/use-query.ts";
import { formatUsd, plainNumber, formatCount } from "../format/figure.ts";
import { fullInstant } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { Dollars, FormattedValue, Unknown } from "../components/figure.tsx";
import { LoadState } from "../components/notice.tsx";
import { areBilled, isOfTokens, rateOf, sumOfLines, unitName } from "./receipt-lines.ts";

interface CallReceiptProps {
  readonly project: string;
  readonly traceId: string;
  readonly id: string;
  readonly zone: string;
  /** Goes to the next call that used an LLM. */
  readonly onModel: (llm: string) => void;
  /** Usage text of its row. */
  readonly used: string | undefined;
}

/** The service's receipt of a call. */
export function CallReceipt({ project, traceId, id, zone, onModel, used }: CallReceiptProps) {
  const key = `receipt\n${project}\n${traceId}\n${id}`;
  const load = useQuery(key, async (asking) => {
    const body = { project_id: project, trace_id: traceId, call_id: id };
    return (await postJson({ path: "/call/receipt", body }, asking)).body;
  });
  useRefetchOn(load, key, used);
  return (
    <div className="receipt" aria-busy={load.busy}>
      <LoadState load={load} />
      {load.value !== undefined && <Lines receipt={load.value} {...{ zone, onModel }} />}
      {load.value !== undefined && <Origins receipt={load.value} />}
    </div>
  );
}

type Line = Receipt["lines"][number];

interface LinesProps extends Pick<CallReceiptProps, "zone" | "onModel"> {
  readonly receipt: Receipt;
}

function Lines({ receipt, zone, onModel }: LinesProps) {
  const { lines } = receipt;
  if (lines.length === 0) return <p className="dim">Neither this call nor any below it used a model.</p>;
  const beside = lines.filter((line) => !isOfTokens(line));
  const billed = areBilled(lines);
  return (
    <div className="wide" tabIndex={0} role="region" aria-label="Receipt">
      <table>
        <thead>
          <tr>
            <th scope="col">model</th>
            <th scope="col">unit</th>
            <th scope="col" className="number">
              quantity
            </th>
            <th scope="col" className="number">
              rate
            </th>
            <th scope="col" className="number">
              amount
            </th>
            {billed && (
              <th scope="col" className="number" title="The amount times the factor that the project has set">
                billed
              </th>
            )}
            <th scope="col">price</th>
            <th scope="col">tier</th>
          </tr>
        </thead>
        {(["own", "below"] as const).map((of) => (
          <Part
            key={of}
            of={of}
            lines={lines.filter((line) => line.of === of)}
            {...{ zone, billed, onModel }}
          />
        ))}
        <tfoot>
          <Sum name="tokens" lines={lines.filter(isOfTokens)} billed={billed} />
          {beside.length > 0 && <Sum name="Other charges" lines={beside} billed={billed} />}
          {beside.length > 0 && <Sum name="all" lines={lines} billed={billed} />}
        </tfoot>
      </table>
    </div>
  );
}

const PARTS = { own: "the call itself", below: "the calls below it" } as const;

interface PartProps extends Pick<CallReceiptProps, "onModel"> {
  readonly of: Line["of"];
  readonly lines: readonly Line[];
  readonly zone: string;
  readonly billed: boolean;
}

function Part({ of, lines, zone, billed, onModel }: PartProps) {
  if (lines.length === 0) return null;
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={billed ? 8 : 7} className="dim">
          {PARTS[of]}
        </th>
      </tr>
      {lines.map((line, at) => (
        <tr key={at} className="line">
          <th scope="row">
            <button
              className="link"
              title="Go to the next call that used it"
              onClick={() => onModel(line.llm)}
            >
              <bdi>{oneLine(line.llm, 60)}</bdi>
            </button>
            {line.provider !== null && <small className="below">{oneLine(line.provider, 60)}</small>}
          </th>
          <td>{unitName(line.unit)}</td>
          <td className="number">
            <FormattedValue figure={formatCount(line.quantity)} />
          </td>
          <td className="number">{line.rate_usd === null ? <NoPrice line={line} /> : rateOf(line)}</td>
          <td className="number amount">
            {line.amount_usd === null ? (
              <NoPrice line={line} />
            ) : (
              <FormattedValue figure={formatUsd(line.amount_usd)} />
            )}
          </td>
          {billed && (
            <td className="number">
              <Billed line={line} />
            </td>
          )}
          <td>
            <Price line={line} zone={zone} />
          </td>
          <td title={line.tier_decided_by}>{oneLine(line.tier, 60)}</td>
        </tr>
      ))}
    </tbody>
  );
}

function Billed({ line }: { readonly line: Line }) {
  const { billed_usd, factor } = line;
  if (billed_usd === null) return <NoPrice line={line} />;
  return (
    <>
      <FormattedValue figure={formatUsd(billed_usd)} />
      <small className="below">
        {factor === null ? "list price" : `× ${plainNumber(factor.factor).text}`}
      </small>
    </>
  );
}

function NoPrice({ line }: { readonly line: Line }) {
  return <Unknown why={`no price is known for ${unitName(line.unit)} of ${oneLine(line.llm, 60)}`} />;
}

function Price({ line: { price }, zone }: { readonly line: Line; readonly zone: string }) {
  if (price === null) return <span className="dim">none</span>;
  const { source, id, effective_date } = price;
  return (
    <>
      <bdi>{source === "project" ? "set in this project" : `${oneLine(source, 40)}: ${oneLine(id, 60)}`}</bdi>
      {effective_date !== null && <small className="below">since {fullInstant(effective_date, zone)}</small>}
    </>
  );
}

interface SumProps {
  readonly name: string;
  readonly lines: readonly Line[];
  readonly billed: boolean;
}

function Sum({ name, lines, billed }: SumProps) {
  return (
    <tr>
      <th scope="row" colSpan={4}>
        {name}
      </th>
      <td className="number">
        <Dollars total={sumOfLines(lines, "amount_usd")} />
      </td>
      {billed && (
        <td className="number">
          <Dollars total={sumOfLines(lines, "billed_usd")} />
        </td>
      )}
      <td colSpan={2} />
    </tr>
  );
}

/** Usage counted elsewhere, and the call that counts a completion reported by several. */
function Origins({ receipt: { usage, completion, call_id } }: { readonly receipt: Receipt }) {
  const elsewhere = usage.filter(({ counted_below }) => counted_below.total_tokens > 0);
  return (
    <dl>
      {usage.map(({ llm, cache_convention }) => (
        <div key={llm}>
          <dt>
            <bdi>{oneLine(llm, 60)}</bdi>
          </dt>
          <dd>{cache_convention}</dd>
        </div>
      ))}
      {elsewhere.map(({ llm, reported, counted_below }) => (
        <div key={llm}>
          <dt>reported</dt>
          <dd>
            <FormattedValue figure={formatCount(reported.total_tokens)} /> tokens of{" "}
            <bdi>{oneLine(llm, 60)}</bdi>, <FormattedValue figure={formatCount(counted_below.total_tokens)} />{" "}
            of them counted with the calls below
          </dd>
        </div>
      ))}
      {completion !== null && (
        <div>
          <dt>completion</dt>
          <dd>
            <bdi>{oneLine(completion.id, 80)}</bdi>, reported by {completion.call_ids.length}{" "}
            {completion.call_ids.length === 1 ? "call" : "calls"}, counted in{" "}
            {completion.counted_call_id === call_id ? (
              "this one"
            ) : (
              <bdi>{oneLine(completion.counted_call_id, 80)}</bdi>
            )}
          </dd>
        </div>
      )}
    </dl>
  );
}
