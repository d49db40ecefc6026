import { readConfig, type Config } from "../../src/config.ts";
import { FIXED_LIMITS } from "../../src/fixed-limits.ts";

/** The configuration of some settings, and of fixed limits that are lower. */
export function testConfig(given: Readonly<Record<string, string>>): Config {
  const isLimit = ([name]: readonly [string, string]): boolean => name in FIXED_LIMITS;
  const limits = Object.entries(given).filter(isLimit);
  const settings = Object.entries(given).filter((one) => !isLimit(one));
  return readConfig(Object.fromEntries(settings), {
    ...FIXED_LIMITS,
    ...Object.fromEntries(limits.map(([name, value]) => [name, Number(value)])),
  });
}
