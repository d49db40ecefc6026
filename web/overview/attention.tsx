import { counted } from "../format/figure.ts";
import { shortName } from "../format/op-name.ts";
import { oneLine } from "../format/plain-text.ts";
import { Cost } from "../components/figure.tsx";
import type { HrefTo } from "../state/url-state.ts";
import { searchOfValue } from "../state/drill.ts";
import type { Overview } from "./load-overview.ts";

interface AttentionProps {
  readonly overview: Overview;
  readonly hrefTo: HrefTo;
}

const MAX_UNPRICED = 4;

/** Issues to act on: missing prices, failures, calls that never ended. */
export function Attention({ overview, hrefTo }: AttentionProps) {
  const { stats, failing, neverEnded } = overview;
  const unpriced = stats.unpriced ?? [];
  const isQuiet = unpriced.length === 0 && failing.length === 0 && neverEnded === 0;
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
        {failing.map(({ key, total }) => {
          const op = String(key["op_name"] ?? "");
          const q = `${searchOfValue("op_name", op)} status:failed`;
          return (
            <li key={op}>
              <span className="sign failed">✕</span>
              <span>
                <bdi>{shortName(op, null)}</bdi> failed {counted(total.errors, "time")}, which used{" "}
                <Cost total={total} />
              </span>
              <a href={hrefTo("traces", { q, sort: "wasted" })}>Traces</a>
            </li>
          );
        })}
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
