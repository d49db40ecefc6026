import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitParams } from "../../../../src/store/transport/fit-params.ts";
import { paramText } from "../../../../src/store/transport/param-text.ts";
import { join, param, render, sql, type ParamType, type ParamValue } from "../../../../src/query/sql.ts";

const limits = { maxFields: 20, maxFieldBytes: 64 };
const text = fc.string({ unit: "binary", maxLength: 80 });
const value = fc.oneof(
  text.map((one): [ParamType, ParamValue] => ["String", one]),
  fc.option(text).map((one): [ParamType, ParamValue] => ["Nullable(String)", one]),
  fc.array(text, { maxLength: 12 }).map((one): [ParamType, ParamValue] => ["Array(String)", one]),
  fc.array(fc.double(), { maxLength: 12 }).map((one): [ParamType, ParamValue] => ["Array(Float64)", one]),
);

/** Rebuilds what a fitted statement of one parameter binds. */
function assembled(type: ParamType, whole: ParamValue): ParamValue {
  const { text: sqlText, params } = render(fitParams(sql`${param(type, whole)}`, limits));
  if (!Array.isArray(whole))
    return Object.values(params).every((one) => one === null) ? null : Object.values(params).join("");
  const list: (string | number)[] = [];
  for (const [token] of sqlText.matchAll(/\[concat\([^)]*\)\]|\{p\d+:Array\(\w+\)\}/g)) {
    const names = [...token.matchAll(/\{(p\d+)/g)].map((match) => match[1]!);
    if (token.startsWith("[")) list.push(names.map((name) => String(params[name])).join(""));
    else list.push(...(params[names[0]!] as (string | number)[]));
  }
  return list as ParamValue;
}

describe("fitParams", () => {
  it("leaves a statement alone whose parameters fit", () => {
    const statement = sql`SELECT ${param("String", "x")}, ${param("Array(String)", ["a", "b"])}`;
    expect(render(fitParams(statement, limits))).toEqual(render(statement));
  });

  it("cuts large values into fields that fit, and they make up the value again", () => {
    fc.assert(
      fc.property(value, ([type, whole]) => {
        const { params, types } = render(fitParams(sql`${param(type, whole)}`, limits));
        for (const [name, piece] of Object.entries(params)) {
          expect(Buffer.byteLength(paramText(types[name]!, piece))).toBeLessThanOrEqual(limits.maxFieldBytes);
        }
        expect(assembled(type, whole)).toEqual(whole);
      }),
    );
  });

  it("never cuts a character in two", () => {
    const { params } = render(fitParams(sql`${param("String", "a🦄".repeat(40))}`, limits));
    for (const piece of Object.values(params)) expect(String(piece).isWellFormed()).toBe(true);
  });

  it("binds many parameters in few fields, each in its place", () => {
    const many = Array.from({ length: 300 }, (_, n) =>
      n % 3 === 0 ? param("Float64", n) : n % 3 === 1 ? param("String", `s${n}`) : param("UInt64", String(n)),
    );
    const lists = Array.from({ length: 5 }, (_, n) => param("Array(String)", [`l${n}`]));
    const fitted = render(
      fitParams(
        join(
          [...many, ...lists].map((one) => sql`${one}`),
          " ",
        ),
        limits,
      ),
    );
    expect(Object.keys(fitted.params).length).toBeLessThanOrEqual(limits.maxFields);
    const read = fitted.text.split(" ").flatMap((token) => {
      const [, name, index] = /^arrayElement\(\{(p\d+):[^}]+\},(\d+)\)$/.exec(token) ?? [];
      return name === undefined ? [] : [(fitted.params[name] as readonly unknown[])[Number(index) - 1]];
    });
    expect(read).toEqual(many.map((one) => one.value));
    expect(fitted.text.match(/(?<!arrayElement\()\{p\d+:Array\(String\)\}/g)).toHaveLength(lists.length);
  });
});
