/** Loaded into a service (`--import`): at SIGUSR2 its event loop stands, as in an endless loop. */
process.on("SIGUSR2", () => {
  for (;;);
});
