/**
 * What stands for "cleared" in columns where NULL says "nothing was said": values that no message can bring. In texts
 * it is ''.
 */
export const CLEARED_INSTANT = "2299-12-31 00:00:00.000000";
export const CLEARED_COUNT = "18446744073709551615";
