import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  draftOf,
  fullestFirst,
  metersOf,
  printPercents,
  readLimits,
  subjectOf,
} from "../../../web/settings/budget.ts";
import { budgetLink } from "../../../web/state/budget-link.ts";
import { printAddress, readAddress, type HrefTo } from "../../../web/state/url-state.ts";

const NOTHING = { usd: 0, tokens: 0, requests: 0 };
const hrefTo: HrefTo = (view, options = {}) =>
  printAddress({ project: "acme/shop", view, traceId: undefined, options });

describe("what is left of a budget", () => {
  it("is the limit without what is spent and held, of each limit that there is", () => {
    const used = {
      spent: { usd: 0.1, tokens: 70, requests: 3 },
      held: { usd: 0.2, tokens: 40, requests: 1 },
    };
    expect(metersOf({ usd: 1, tokens: 100, requests: null }, used)).toEqual([
      { unit: "usd", limit: 1, spent: 0.1, held: 0.2, left: 0.7 },
      { unit: "tokens", limit: 100, spent: 70, held: 40, left: 0 },
    ]);
    expect(metersOf({ usd: null, tokens: null, requests: 0 }, used)).toMatchObject([{ limit: 0, left: 0 }]);
  });

  it("orders values by the limit that is nearest", () => {
    const value = (name: string, usd: number, requests: number) => ({
      name,
      spent: { ...NOTHING, usd },
      held: { ...NOTHING, requests },
    });
    const values = [value("half", 5, 2), value("new", 0, 0), value("over", 30, 0), value("held", 0, 9)];
    const names = (requests: number | null) =>
      fullestFirst(values, { usd: 10, tokens: null, requests }).map(({ name }) => name);
    expect(names(10)).toEqual(["over", "held", "half", "new"]);
    expect(names(null)).toEqual(["over", "half", "new", "held"]);
    // nothing passes: none of it is left to anybody
    expect(names(0)).toEqual(["half", "new", "over", "held"]);
  });
});

describe("a budget", () => {
  it("names what it is of", () => {
    const names = [
      { scope: "project", match: "*" },
      { scope: "api_key", match: "*" },
      { scope: "api_key", match: "k1" },
      { scope: "svc_user_id", match: "ana" },
    ] as const;
    expect(names.map(subjectOf)).toEqual(["Project", "Each API key", "API key k1", "User ana"]);
  });

  it("is proposed for a key, a user or the project by an address, with any value", () => {
    fc.assert(
      fc.property(fc.constantFrom("api_key", "svc_user_id"), fc.string({ minLength: 1 }), (scope, match) => {
        const { view, options } = readAddress(budgetLink(hrefTo, { [scope]: match })!);
        expect(view).toBe("settings");
        expect(draftOf(options, "Asia/Tokyo")).toMatchObject({ scope, match, timezone: "Asia/Tokyo" });
      }),
    );
    const ofProject = readAddress(budgetLink(hrefTo, {})!).options;
    expect(draftOf(ofProject, "UTC")).toMatchObject({ scope: "project", match: "*" });
    expect(draftOf({ scope: "toString" }, "UTC").scope).toBe("project");
    const others = [{ svc_user_id: null }, { llm: "gpt-4o" }, { svc_user_id: "ana", llm: "gpt-4o" }];
    for (const key of others) expect(budgetLink(hrefTo, key)).toBeUndefined();
  });

  it("is read from the inputs of the form", () => {
    const typed = { usd: " 1,50 ", tokens: "", requests: "0", window: "", timezone: "UTC" };
    expect(readLimits({ ...typed, alerts: "50 %, 80 100", refuse: "on" })).toEqual({
      limit: { usd: 1.5, tokens: null, requests: 0 },
      window: null,
      timezone: "UTC",
      on_unknown_price: "refuse",
      alerts: [0.5, 0.8, 1],
    });
    expect(readLimits({ ...typed, alerts: "" })).toMatchObject({
      on_unknown_price: "count_only",
      alerts: [],
    });
  });

  it("prints the fractions of alerts as percents that are read again", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100_000 })), (thousandths) => {
        const fractions = thousandths.map((one) => one / 1000);
        expect(readLimits({ alerts: printPercents(fractions) }).alerts).toEqual(fractions);
      }),
    );
    expect(printPercents([0.07, 0.555])).toBe("7, 55.5");
  });
});
