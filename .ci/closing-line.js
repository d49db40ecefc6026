/** A reporter that says in one line what has come of all tests. What failed outside of a test counts as one. */
export default class ClosingLine {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const states = [...module.children.allTests()].map((test) => test.result().state);
      for (const state of states) count[state]++;
      if (module.state() === "failed" && !states.includes("failed")) count.failed++;
    }
    const skipped = count.skipped + count.pending;
    process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${skipped} skipped\n`);
  }
}
