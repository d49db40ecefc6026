import { columns, computedColumns, HAS_ENDED } from "../../query/fields/columns.ts";
import { compileFilter, compileQuery, type CompiledQuery, type SelectionLimits } from "../../query/index.ts";
import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import { invalid } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import { countSlots } from "../../usage/count-fields.ts";
import type { AnyCall, NumberRange, STATUSES } from "../trace-selection.ts";
import { textPattern } from "./text-pattern.ts";

/** Conditions over the columns of `calls`: all must be true. */
export interface CallConditions {
  /** Conditions on small columns. */
  readonly narrow: readonly Sql[];
  /** Conditions on payloads and feedback, evaluated once for all calls. */
  readonly payload: readonly Sql[];
  /** Condition on an unmerged row of such a call, evaluated before rows are merged. */
  readonly ofPart?: Sql | undefined;
}

export const HAS_FAILED = sql`(ifNull(exception, '') != '')`;
export const HAS_NOT_ENDED = sql`(NOT ${HAS_ENDED})`;
export const STATUS = sql`multiIf(${HAS_FAILED}, 'error', ${HAS_NOT_ENDED}, 'running', 'success')`;
/** LLMs with reported usage, `Array(String)`: the first value of each row of the column. */
export const LLMS = sql`arrayMap(row -> JSONExtractString(row, 1), JSONExtractArrayRaw(ifNull(usage, '')))`;
const TOTAL_TOKENS = sql`arraySum(row -> JSONExtractUInt(row, ${trusted(String(countSlots.totalTokens + 2))}), JSONExtractArrayRaw(ifNull(usage, '')))`;

/** Errors: validation. */
export function anyCallConditions(
  project: Project,
  { query, text, ...members }: AnyCall,
  at: { readonly limits: SelectionLimits; readonly loc: readonly (string | number)[] },
): CallConditions {
  const { status, models, latency_ms, total_tokens, op_names, svc_user_ids } = members;
  const compiled = query == null ? undefined : compiledQuery(project, query, at);
  const narrow = [
    ...(status?.length ? [isStatus(status)] : []),
    ...(op_names?.length || svc_user_ids?.length ? [compileFilter({ op_names, svc_user_ids })] : []),
    ...(models?.length ? [sql`hasAny(${LLMS}, ${param("Array(String)", models)})`] : []),
    ...withinRange(computedColumns.get("latency_ms")!.sql, latency_ms),
    ...withinRange(TOTAL_TOKENS, total_tokens),
  ];
  const ofText = text == null ? undefined : containsText(text);
  return joined({ narrow, payload: ofText === undefined ? [] : [ofText] }, conditionsOf(compiled), ofText);
}

/** Errors: validation. */
export function compiledQuery(
  project: Project,
  query: unknown,
  { limits, loc }: { readonly limits: SelectionLimits; readonly loc: readonly (string | number)[] },
): CompiledQuery {
  const compiled = compileQuery(query, { project, limits });
  if (compiled.ok) return compiled;
  throw invalid(compiled.issues.map((issue) => ({ ...issue, loc: ["body", ...loc, ...issue.loc] })));
}

export function conditionsOf(query: CompiledQuery | undefined): CallConditions {
  if (query === undefined) return { narrow: [], payload: [] };
  if (query.readsFeedback) return { narrow: [], payload: [query.condition] };
  const listOf = (condition: Sql | undefined): readonly Sql[] => (condition === undefined ? [] : [condition]);
  return { narrow: listOf(query.narrow), payload: listOf(query.payload) };
}

function joined(one: CallConditions, other: CallConditions, ofPart: Sql | undefined): CallConditions {
  return { narrow: [...one.narrow, ...other.narrow], payload: [...one.payload, ...other.payload], ofPart };
}

function isStatus(statuses: readonly (typeof STATUSES)[number][]): Sql {
  return sql`(${STATUS} IN ${param("Array(String)", statuses)})`;
}

function withinRange(number: Sql, range: NumberRange | null | undefined): readonly Sql[] {
  const bounds = [
    [sql`>`, range?.gt],
    [sql`>=`, range?.gte],
    [sql`<`, range?.lt],
    [sql`<=`, range?.lte],
  ] as const;
  return bounds.flatMap(([operator, bound]) =>
    bound == null ? [] : [sql`(${number} ${operator} ${param("Float64", bound)})`],
  );
}

function containsText(text: string): Sql {
  const { word, pattern } = textPattern(text);
  const inColumn = (name: string): Sql => {
    const column = sql`ifNull(${columns.get(name)!.sql}, '')`;
    const tests = [
      ...(word === "" ? [] : [sql`positionCaseInsensitive(${column}, ${param("String", word)}) > 0`]),
      ...(pattern === undefined ? [] : [sql`match(${column}, ${param("String", pattern)})`]),
    ];
    return sql`(${join(tests, " AND ")})`;
  };
  return sql`(${inColumn("inputs")} OR ${inColumn("output")})`;
}
