import { postJson } from "../api/client.ts";
import type { Receipt } from "../api/routes.ts";
import { useRefetchOn, useQuery } from "../api/use-query.ts";
import { formatUsd, formatCount } from "../format/figure.ts";
import { fullInstant } from "../format/instants.ts";
import { printAddress } from "../state/url-state.ts";
import { oneLine } from "../format/plain-text.ts";
import { Cost, FormattedValue, Unknown } from "../components/figure.tsx";
import { LoadState } from "../components/notice.tsx";
import { toPicodollar, type Total } from "../format/usage.ts";
import { Fact } from "./facts.tsx";

interface CallReceiptProps {
  readonly project: string;
  readonly traceId: string;
  readonly id: string;
  readonly zone: string;
  /** Goes to the next call that used an LLM. */
  readonly onModel: (llm: string) => void;
  /** Usage of it and everything below it. */
  readonly used: Total | undefined;
}

/** The service's receipt of a call. */
export function CallReceipt({ project, traceId, id, zone, onModel, used }: CallReceiptProps) {
  const key = `receipt\n${project}\n${traceId}\n${id}`;
  const load = useQuery(key, async (asking) => {
    const body = { project_id: project, trace_id: traceId, call_id: id };
    return (await postJson({ path: "/call/receipt", body }, asking)).body;
  });
  useRefetchOn(load, key, used && JSON.stringify(used));
  return (
    <div className="receipt" aria-busy={load.busy}>
      <LoadState load={load} />
      {load.value !== undefined && <Lines receipt={load.value} {...{ zone, onModel, used }} />}
      {load.value !== undefined && <Origins receipt={load.value} project={project} />}
    </div>
  );
}

type Line = Receipt["lines"][number];

const PARTS = { own: "the call itself", below: "the calls below it" };
const COLUMNS = ["model", "quantity", "rate", "amount", "price"];
const NUMBERS = ["quantity", "rate", "amount"];

interface LinesProps extends Pick<CallReceiptProps, "zone" | "onModel" | "used"> {
  readonly receipt: Receipt;
}

function Lines({ receipt: { lines, total }, zone, onModel, used }: LinesProps) {
  if (lines.length === 0) return <p className="dim">Neither this call nor any below it used a model.</p>;
  const partial = lines.some(({ amount_usd }) => amount_usd === null);
  const tokens = lines.reduce((sum, { cost, quantity }) => (cost === "other_cost" ? sum : sum + quantity), 0);
  const beside = used === undefined ? 0 : tokens - used.tokens;
  return (
    <div className="wide" tabIndex={0} role="region" aria-label="Receipt">
      <table>
        <thead>
          <tr>
            {COLUMNS.map((name) => (
              <th key={name} scope="col" className={NUMBERS.includes(name) ? "number" : ""}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {[...Map.groupBy(lines, ({ of }) => of)].map(([of, part]) => (
          <tbody key={of}>
            <tr>
              <th scope="rowgroup" colSpan={COLUMNS.length} className="dim">
                {PARTS[of]}
              </th>
            </tr>
            {part.map((line, at) => (
              <OneLine key={at} {...{ line, zone, onModel }} />
            ))}
          </tbody>
        ))}
        <tfoot>
          <tr>
            <th scope="row">
              total
              {beside > 0 && (
                <small className="below">{formatCount(beside).text} of caches, told beside the tokens</small>
              )}
            </th>
            <td className="number">
              <FormattedValue figure={formatCount(tokens)} />
            </td>
            <td />
            <td className="number">
              <Cost total={{ total_cost: total.total_cost, partial }} />
            </td>
            <td />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

interface OneLineProps extends Pick<CallReceiptProps, "zone" | "onModel"> {
  readonly line: Line;
}

function OneLine({ line, zone, onModel }: OneLineProps) {
  const { llm, provider, unit, quantity, tier, tier_decided_by } = line;
  return (
    <tr className="line">
      <th scope="row">
        <button className="link" title="Go to the next call that used it" onClick={() => onModel(llm)}>
          <bdi>{oneLine(llm, 60)}</bdi>
        </button>
        <small className="below">
          {unitName(unit)}
          {provider !== null && `, ${oneLine(provider, 60)}`}
        </small>
      </th>
      <td className="number">
        <FormattedValue figure={formatCount(quantity)} />
      </td>
      <td className="number">
        {line.rate_usd === null ? <NoPrice line={line} /> : rateOf(unit, line.rate_usd)}
      </td>
      <td className="number amount">
        {line.amount_usd === null ? (
          <NoPrice line={line} />
        ) : (
          <FormattedValue figure={formatUsd(line.amount_usd)} />
        )}
      </td>
      <td>
        <Price line={line} zone={zone} />
        <small className="below" title={tier_decided_by}>
          tier {oneLine(tier, 60)}
        </small>
      </td>
    </tr>
  );
}

/** `cache_read_input_tokens` is shown as `cache read input tokens`. */
function unitName(unit: string): string {
  return unit.replaceAll("_", " ");
}

/** $2.50 / M for tokens, $0.01 each for the rest. */
function rateOf(unit: string, usd: number): string {
  return unit.endsWith("_tokens")
    ? `${formatUsd(toPicodollar(usd * 1e6)).text} / M`
    : `${formatUsd(usd).text} each`;
}

function NoPrice({ line }: { readonly line: Line }) {
  return <Unknown why={`no price is known for ${unitName(line.unit)} of ${oneLine(line.llm, 60)}`} />;
}

function Price({ line: { price }, zone }: Pick<OneLineProps, "line" | "zone">) {
  if (price === null) return <span className="dim">none</span>;
  const { source, id, effective_date } = price;
  return (
    <>
      <bdi>{source === "project" ? "set in this project" : `${oneLine(source, 40)}: ${oneLine(id, 60)}`}</bdi>
      {effective_date !== null && <small className="below">since {fullInstant(effective_date, zone)}</small>}
    </>
  );
}

function callAddress(project: string, { trace_id, call_id }: NonNullable<Receipt["superseded_by"]>): string {
  return printAddress({ project, view: "trace", traceId: trace_id, options: { call: call_id } });
}

/** Usage counted elsewhere, and the call that counts a completion reported by several. */
function Origins({ receipt, project }: { readonly receipt: Receipt; readonly project: string }) {
  const { usage, completion, call_id, superseded_by } = receipt;
  const elsewhere = usage.filter(({ counted_below }) => counted_below.total_tokens > 0);
  return (
    <dl>
      {usage.map(({ llm, cache_convention }) => (
        <Fact key={llm} name={oneLine(llm, 60)}>
          {cache_convention}
        </Fact>
      ))}
      {elsewhere.map(({ llm, reported, counted_below }) => (
        <Fact key={llm} name="reported">
          <FormattedValue figure={formatCount(reported.total_tokens)} /> tokens of{" "}
          <bdi>{oneLine(llm, 60)}</bdi>, <FormattedValue figure={formatCount(counted_below.total_tokens)} />{" "}
          of them counted with the calls below
        </Fact>
      ))}
      {superseded_by !== null && (
        <Fact name="counted by">
          <a href={callAddress(project, superseded_by)}>
            <bdi>{oneLine(superseded_by.call_id, 80)}</bdi>
          </a>
          , which reports the same request
        </Fact>
      )}
      {completion !== null && superseded_by === null && (
        <Fact name="completion">
          <bdi>{oneLine(completion.id, 80)}</bdi>, reported by {completion.call_ids.length}{" "}
          {completion.call_ids.length === 1 ? "call" : "calls"}, counted in{" "}
          {completion.counted_call_id === call_id ? (
            "this one"
          ) : (
            <bdi>{oneLine(completion.counted_call_id, 80)}</bdi>
          )}
        </Fact>
      )}
    </dl>
  );
}
