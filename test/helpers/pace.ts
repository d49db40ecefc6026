/** What the work below takes on the machine where the bounds of tests were measured, in ms of processor time. */
const REFERENCE_MS = 80;

/** How many times slower than there this machine is now, at least 1: what a bound in processor time is multiplied by. */
export function pace(): number {
  const taken = Array.from({ length: 5 }, workMs);
  return Math.max(1, Math.min(...taken) / REFERENCE_MS);
}

/** Parsing and writing JSON, as most of what the service does. */
function workMs(): number {
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ [`key${n}`]: n / 3, text: `a "text" of ${n}` }));
  const before = process.threadCpuUsage();
  for (let n = 0; n < 2; n++) JSON.parse(JSON.stringify(rows));
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
