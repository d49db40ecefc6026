import { usdOf, usdText } from "../../prices/money.ts";
import { rawJSON } from "../../shared/exact-integers.ts";
import { isoOf } from "../../shared/instant.ts";
import { parseOrUndefined } from "../../shared/json.ts";
import type { Limit } from "../budget.ts";
import type { CrossedAlert } from "./crossed-alerts.ts";

/** Writes the event `budget.crossed` as JSON, dollars with every digit. */
export function alertEventJson({ fraction, unit, state }: CrossedAlert, nowMs: number): string {
  const { budget, value, window } = state;
  const { project: project_id, id, name, scope } = budget;
  const [limit, spent, held] = [budget.limit, state.spent, state.held].map(onWire);
  const resets_at = window.endUs === null ? null : isoOf(window.endUs);
  const subject = `${name ?? id}${value === null ? "" : ` of ${scope} ${value}`} in ${project_id}`;
  const amount = `${JSON.stringify(spent![unit])} of ${JSON.stringify(limit![unit])} ${unit}`;
  const reset = resets_at === null ? "It never resets." : `It resets at ${resets_at}.`;
  const data = {
    project_id,
    budget: { id, name, scope, value },
    fraction,
    unit,
    limit,
    spent,
    held,
    window: { start: isoOf(window.startUs), resets_at },
    message: `Budget ${subject} has reached ${Number((fraction * 100).toPrecision(12))} %: ${amount}. ${reset}`,
  };
  return JSON.stringify({ type: "budget.crossed", timestamp: new Date(nowMs).toISOString(), data });
}

function onWire(amounts: Limit) {
  return { ...amounts, usd: amounts.usd === null ? null : rawJSON(usdText(usdOf(amounts.usd))) };
}

/** Writes the message `{"text"}` of Slack, Mattermost and Discord (`/slack`). Names of users must not mention channels. */
export function slackMessageJson(eventJson: string): string {
  const { data } = parseOrUndefined(eventJson) as { data: { message: string } };
  const text = data.message.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return JSON.stringify({ text });
}
