import { counted } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { Cost } from "../components/figure.tsx";
import { searchOfGroup } from "../state/drill.ts";
import { ERROR, labelOf } from "../state/groups.ts";
import type { OverviewPart } from "./load-overview.ts";

const MAX_UNPRICED = 4;
const MAX_ERRORS = 5;

/** Issues to act on: missing prices, errors, calls that never ended. */
export function Attention({ overview, hrefTo }: OverviewPart) {
  const { stats, errors, neverEnded } = overview;
  const patterns = errors.groups.map(({ key }) => String(key[ERROR]));
  const unpriced = stats.unpriced ?? [];
  const isQuiet = unpriced.length === 0 && patterns.length === 0 && neverEnded === 0;
  return (
    <section>
      <h2>Needs attention</h2>
      {isQuiet && <p className="dim">Nothing does.</p>}
      <ul className="attention">
        {unpriced.slice(0, MAX_UNPRICED).map(({ llm, service_tier, total_tokens }) => (
          <li key={`${llm}\n${service_tier}`}>
            <span className="sign">≥</span>
            <span>
              <bdi>{oneLine(llm, 60)}</bdi>
              {service_tier !== null && ` at tier ${oneLine(service_tier, 30)}`} has no price:{" "}
              {counted(total_tokens, "token")} are in no sum
            </span>
            <a href={hrefTo("settings", { model: llm, tier: service_tier ?? "" })}>Set the price</a>
          </li>
        ))}
        {unpriced.length > MAX_UNPRICED && (
          <li>
            <span className="sign">≥</span>
            <span>and {counted(unpriced.length - MAX_UNPRICED, "more model", "more models")}</span>
            <a href={hrefTo("settings")}>All prices</a>
          </li>
        )}
        {errors.groups.slice(0, MAX_ERRORS).map(({ key, total }) => {
          const q = searchOfGroup(key, { text: "", of: "traces", patterns }) ?? "";
          const { traces = 0, wasted_cost: wasted = 0, partial = false } = total;
          return (
            <li key={String(key[ERROR])}>
              <span className="sign failed">✕</span>
              <span>
                <bdi>{oneLine(labelOf(key), 120)}</bdi>: {errors.other !== null && "≥ "}
                {counted(traces, "trace")} failed, <Cost total={{ total_cost: wasted, partial }} /> wasted
              </span>
              <a href={hrefTo("traces", { q, sort: "wasted" })}>Traces</a>
            </li>
          );
        })}
        {patterns.length > MAX_ERRORS && (
          <li>
            <span className="sign failed">✕</span>
            <span>and {counted(patterns.length - MAX_ERRORS, "more error")}</span>
            <a href={hrefTo("usage", { group: ERROR })}>All errors</a>
          </li>
        )}
        {neverEnded > 0 && (
          <li>
            <span className="sign live">●</span>
            <span>
              {counted(neverEnded, "call")} began more than an hour ago and{" "}
              {neverEnded === 1 ? "has" : "have"} not ended
            </span>
            <a href={hrefTo("traces", { q: "status:running" })}>Traces</a>
          </li>
        )}
      </ul>
    </section>
  );
}
