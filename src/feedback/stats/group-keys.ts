import { IS_VISIBLE } from "../../query/index.ts";
import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { Dimensions } from "../../stats/plan/dimensions.ts";
import { placesInRow } from "../../usage/usage-column.ts";
import { feedbackOf, type FeedbackRows } from "./feedback-rows.ts";

/** SQL that groups feedback by the calls that it is about. */
export interface GroupKeys {
  /** Call id of a feedback; '' if it is about something else. */
  readonly callId: Sql;
  /** Selects `id` and `fields` of the calls. Of several calls with one id, the first. */
  readonly calls: Sql;
  /** Key as JSON, over `fields`: empty without a call, which makes every member null. */
  readonly key: Sql;
}

/** LLMs of calls, as SQL printed them, with the provider of each. */
export type Providers = ReadonlyMap<string, string | null>;

export function groupKeysOf(rows: FeedbackRows, dimensions: Dimensions, providers: Providers): GroupKeys {
  const lines = sql`splitByChar('\\n', ${dimensions.callKey ?? sql`''`})`;
  let line = 0;
  const fields = dimensions.all.map(({ source }) => {
    if (source === "call") return sql`${lines}[${trusted(String(++line))}]`;
    return source === "llm" ? jsonOrNothing(LLM) : jsonOrNothing(providerIn(providers));
  });
  const members = dimensions.all.map(({ label }, place) => {
    const name = `${place === 0 ? "{" : ","}${JSON.stringify(label)}:`;
    return sql`${param("String", name)}, ${scalarOf(sql`arrayElement(fields, ${trusted(String(place + 1))})`)}`;
  });
  const calls = sql`SELECT id, argMin([${join(fields, ", ")}], (started_at, trace_id)) AS fields
    ${fromCalls(rows)} GROUP BY id`;
  return { callId: callIdIn(rows.project), calls, key: sql`concat(${join(members, ", ")}, '}')` };
}

/** Selects the number of calls with feedback, as `calls`. */
export function countCalls(rows: FeedbackRows): Sql {
  return sql`SELECT count() AS calls FROM (SELECT DISTINCT call_id FROM (${callIds(rows)}))`;
}

/** Selects `[LLM, provider as reported]` of the calls as JSON, as `used`; at most `limit`. */
export function selectLlms(rows: FeedbackRows, limit: number): Sql {
  return sql`SELECT DISTINCT ${USED} AS used ${fromCalls(rows)} LIMIT ${param("UInt32", limit)}`;
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

function refPrefix(project: Project): string {
  return `weave:///${project}/call/`;
}

function callIdIn(project: Project): Sql {
  const prefix = refPrefix(project);
  const idAt = param("UInt32", Buffer.byteLength(prefix) + 1);
  return sql`if(startsWith(weave_ref, ${param("String", prefix)}), substring(weave_ref, ${idAt}), '')`;
}

function callIds(rows: FeedbackRows): Sql {
  return sql`SELECT ${callIdIn(rows.project)} AS call_id FROM ${feedbackOf(rows)}
    AND startsWith(weave_ref, ${param("String", refPrefix(rows.project))})`;
}

function fromCalls(rows: FeedbackRows): Sql {
  const project = param("String", rows.project);
  return sql`FROM calls FINAL
    PREWHERE project_id = ${project} AND id IN (${callIds(rows)}) AND (hour, trace_id) IN
      (SELECT hour, trace_id FROM call_keys WHERE project_id = ${project} AND id IN (${callIds(rows)}))
    WHERE ${IS_VISIBLE}`;
}
