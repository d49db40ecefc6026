/** Loaded into a service before it starts: at a signal it fills its heap, until that is at its end. */
process.on("SIGUSR2", () => {
  const kept: object[] = [];
  for (;;) kept.push({});
});
