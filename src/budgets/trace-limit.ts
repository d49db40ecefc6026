import { invalid } from "../shared/errors.ts";
import { UNITS, type Limit, type Unit } from "./budget.ts";
import { attodollarsIn } from "./usd.ts";

const MEMBER = /^(usd|tokens|requests)\s*=\s*(\d{1,15}(?:\.\d{1,18})?)$/;

/** Reads the limit of a trace in a header, like `usd=2.5; tokens=100000`; undefined without one. Throws validation. */
export function readTraceLimit(header: string | string[] | undefined): Limit | undefined {
  if (header === undefined) return undefined;
  const members = new Map<Unit, string>();
  for (const part of String(header).split(";")) {
    const [, unit, amount] = MEMBER.exec(part.trim()) ?? [];
    if (unit === undefined || amount === undefined || members.has(unit as Unit)) throw malformed();
    if (unit !== "usd" && amount.includes(".")) throw malformed();
    members.set(unit as Unit, amount);
  }
  const [usd, tokens, requests] = UNITS.map((unit) => members.get(unit));
  return {
    usd: usd === undefined ? null : attodollarsIn(Number(usd)),
    tokens: tokens === undefined ? null : Number(tokens),
    requests: requests === undefined ? null : Number(requests),
  };
}

function malformed() {
  const msg = "Input should be like usd=2.5; tokens=100000; requests=200, with any of the three";
  return invalid([{ loc: ["header", "x-sumtree-budget"], msg, type: "value_error" }]);
}
