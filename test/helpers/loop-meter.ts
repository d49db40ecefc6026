/**
 * Loaded into a service (`--import`): the longest that its event loop stands, in milliseconds of the main thread's
 * processor time, so that what else the machine does is not counted. A parent asks over IPC; each answer begins anew.
 */
const EVERY_MS = 4;

let longestMs = 0;
let heapBytes = 0;
let last = threadMs();
setInterval(() => {
  const now = threadMs();
  longestMs = Math.max(longestMs, now - last);
  heapBytes = Math.max(heapBytes, process.memoryUsage().heapUsed);
  last = now;
}, EVERY_MS).unref();

process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ longestMs, heapBytes, processMs: (user + system) / 1000 });
  longestMs = 0;
  heapBytes = 0;
});
process.channel?.unref();

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
