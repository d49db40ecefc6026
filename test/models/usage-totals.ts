/** The members of a total; an unknown cost is null. */
export type Total = Readonly<Record<string, number | null>>;

/** Costs as whole picodollars, so that sums of them are exact; what is no number is left out. */
export function picodollars(total: Total): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(total)
      .filter(([, value]) => value === null || typeof value === "number")
      .map(([name, value]) => [
        name,
        value === null || !name.includes("cost") ? value : Math.round(value * 1e12),
      ]),
  );
}

/** Members that say nothing of what was used. */
const NO_USAGE: ReadonlySet<string> = new Set(["calls", "errors"]);

/** The sum of some totals like `like`, in picodollars. A cost is null when no total that used something has one, a stated cost when none has one. */
export function addTotals(
  totals: readonly (Total | null)[],
  like: Total = totals.find((total) => total !== null) ?? {},
): Record<string, number | null> {
  const sum: Record<string, number | null> = {};
  const some = totals.filter((total) => total !== null).map(picodollars);
  const used = (total: Total): boolean =>
    Object.entries(total).some(([name, value]) => !NO_USAGE.has(name) && (value ?? 0) > 0);
  const names = Object.keys(picodollars(like));
  for (const name of names) {
    const known = some.filter((total) => total[name] !== null);
    if (name === "stated_cost" && known.length === 0) {
      sum[name] = null;
      continue;
    }
    const isUnknown = known.every((total) => !used(total)) && some.some((total) => total[name] === null);
    sum[name] = isUnknown ? null : known.reduce((total, one) => total + one[name]!, 0);
  }
  return sum;
}

/** The same of totals in dollars, in dollars; nothing at all is no cost. */
export function sumOf(totals: readonly Total[]): Total {
  return Object.fromEntries(
    Object.entries(addTotals(totals)).map(([name, value]) => [
      name,
      value === null || !name.includes("cost") ? value : value / 1e12,
    ]),
  );
}
