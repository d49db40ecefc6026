import { counted } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { Cost } from "../components/figure.tsx";
import { searchOfGroup } from "../state/drill.ts";
import { ERROR, labelOf } from "../state/groups.ts";
import { Item } from "./item.tsx";
import type { OverviewPart } from "./load-overview.ts";

const MAX_UNPRICED = 4;
const MAX_ERRORS = 5;
const FAILED = { sign: "✕", kind: "failed" } as const;

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
          <Item
            key={`${llm}\n${service_tier}`}
            sign="≥"
            href={hrefTo("settings", { model: llm, tier: service_tier ?? "" })}
            link="Set the price"
          >
            <bdi>{oneLine(llm, 60)}</bdi>
            {service_tier !== null && ` at tier ${oneLine(service_tier, 30)}`} has no price:{" "}
            {counted(total_tokens, "token")} are in no sum
          </Item>
        ))}
        {unpriced.length > MAX_UNPRICED && (
          <Item sign="≥" href={hrefTo("settings")} link="All prices">
            and {counted(unpriced.length - MAX_UNPRICED, "more model")}
          </Item>
        )}
        {errors.groups.slice(0, MAX_ERRORS).map(({ key, total }) => {
          const q = searchOfGroup(key, { text: "", of: "traces", patterns }) ?? "";
          const { traces = 0, wasted_cost: wasted = 0, partial = false } = total;
          return (
            <Item
              key={String(key[ERROR])}
              {...FAILED}
              href={hrefTo("traces", { q, sort: "wasted" })}
              link="Traces"
            >
              <bdi>{oneLine(labelOf(key), 120)}</bdi>: {errors.other !== null && "≥ "}
              {counted(traces, "trace")} failed, <Cost total={{ total_cost: wasted, partial }} /> wasted
            </Item>
          );
        })}
        {patterns.length > MAX_ERRORS && (
          <Item {...FAILED} href={hrefTo("usage", { group: ERROR })} link="All errors">
            and {counted(patterns.length - MAX_ERRORS, "more error")}
          </Item>
        )}
        {neverEnded > 0 && (
          <Item sign="●" kind="live" href={hrefTo("traces", { q: "status:running" })} link="Traces">
            {counted(neverEnded, "call")} began more than an hour ago and {neverEnded === 1 ? "has" : "have"}{" "}
            not ended
          </Item>
        )}
      </ul>
    </section>
  );
}
