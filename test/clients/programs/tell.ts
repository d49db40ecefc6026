/** Prints what a program found out: the last thing it says. */
export function tell(result: object): void {
  process.stdout.write(`\nRESULT ${JSON.stringify(result)}\n`);
}
