const FATAL = ["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP"] as const;

/**
 * Lets a crash end the process. The engine catches these signals as soon as it is open and then waits five minutes for a
 * report that nobody writes, while the process listens and responds to nothing. Taking the last listener off a signal makes
 * Node restore the system's own handling, which neither later sessions nor statements change again.
 */
export function restoreFatalSignals(): void {
  const ignore = (): void => undefined;
  for (const signal of FATAL) process.on(signal, ignore).off(signal, ignore);
}
