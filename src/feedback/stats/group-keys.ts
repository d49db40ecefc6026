import { join, param, sql, trusted, type Param, type Sql } from "../../query/sql.ts";
import { callIdOf, fromCallsWithIds } from "../../ratings/calls-of-feedback.ts";
import type { Dimensions } from "../../stats/plan/dimensions.ts";
import { placesInRow } from "../../usage/usage-column.ts";
import { feedbackOf, type FeedbackRows } from "./feedback-rows.ts";

/** SQL that groups feedback by the calls that it is about. */
export interface GroupKeys {
  /** Call id of a feedback; '' if it is about something else. */
  readonly callId: Sql;
  /** Selects `id` and `key` of the calls: JSON. Of several calls with one id, the first. */
  readonly calls: Sql;
  /** Key of feedback without a call: every member is null. */
  readonly noCall: Param;
}

/** LLMs of calls, as SQL printed them, with the provider of each. */
export type Providers = ReadonlyMap<string, string | null>;

export function groupKeysOf(rows: FeedbackRows, dimensions: Dimensions, providers: Providers): GroupKeys {
  const lines = sql`splitByChar('\\n', ${dimensions.callKey ?? sql`''`})`;
  let line = 0;
  const members = dimensions.all.map(({ label, source }) => {
    const named = source === "llm" ? LLM : providerIn(providers);
    const json = source === "call" ? sql`${lines}[${trusted(String(++line))}]` : jsonOrNothing(named);
    return sql`concat(${param("String", JSON.stringify(label))}, ':', ${scalarOf(json)})`;
  });
  const key = sql`concat('{', ${join(members, ", ',', ")}, '}')`;
  const calls = sql`SELECT id, argMin(${key}, (started_at, trace_id)) AS key ${fromCalls(rows)} GROUP BY id`;
  const nulls = dimensions.all.map(({ label }) => `${JSON.stringify(label)}:null`);
  return { callId: callIdOf(rows.project), calls, noCall: param("String", `{${nulls.join(",")}}`) };
}

/** Selects the number of calls with feedback, as `calls`. */
export function countCalls(rows: FeedbackRows): Sql {
  return sql`SELECT uniqExact(call_id) AS calls FROM (${callIds(rows)})`;
}

/** Selects `[LLM, provider as reported]` of the calls as JSON, as `used`. */
export function selectLlms(rows: FeedbackRows): Sql {
  return sql`SELECT DISTINCT ${USED} AS used ${fromCalls(rows)}`;
}

const USAGES = sql`JSONExtractArrayRaw(ifNull(usage, ''))`;
const TOKENS = sql`arrayMap(one -> JSONExtractFloat(one, ${trusted(String(placesInRow.totalTokens))}), ${USAGES})`;
/** Usage with the most tokens that a call reports; the first of equals, '' without usage. */
const MOST_USED = sql`${USAGES}[indexOf(${TOKENS}, arrayMax(${TOKENS}))]`;
const LLM = sql`JSONExtractString(${MOST_USED}, ${trusted(String(placesInRow.llm))})`;
const USED = sql`toJSONString([${LLM}, JSONExtractString(${MOST_USED}, ${trusted(String(placesInRow.provider))})])`;

function providerIn(providers: Providers): Sql {
  const names = [...providers.values()].map((name) => name ?? "");
  if (names.length === 0) return sql`''`;
  return sql`transform(${USED}, ${param("Array(String)", [...providers.keys()])}, ${param("Array(String)", names)}, '')`;
}

function jsonOrNothing(text: Sql): Sql {
  return sql`if(${text} = '', '', toJSONString(${text}))`;
}

/** A value of a key: null if absent, JSON text if not a scalar. Equal values have equal texts. */
function scalarOf(json: Sql): Sql {
  return sql`multiIf(${json} IN ('', 'null'), 'null', startsWith(${json}, '"'), toJSONString(JSONExtractString(${json})),
    substring(${json}, 1, 1) IN ('[', '{'), toJSONString(${json}), ${json})`;
}

function callIds(rows: FeedbackRows): Sql {
  return sql`SELECT ${callIdOf(rows.project)} AS call_id FROM ${feedbackOf(rows)} AND call_id != ''`;
}

function fromCalls(rows: FeedbackRows): Sql {
  return fromCallsWithIds(rows.project, sql`(${callIds(rows)})`);
}
