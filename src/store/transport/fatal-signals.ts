const FATAL = ["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP"] as const;

/**
 * Restores the default handling of fatal signals, so that a crash ends the process. chdb installs handlers when it opens, and
 * after a crash hangs for five minutes. Removing a signal's last listener makes Node restore the default, which later
 * sessions and statements do not change.
 */
export function restoreFatalSignals(): void {
  const ignore = (): void => undefined;
  for (const signal of FATAL) process.on(signal, ignore).off(signal, ignore);
}
