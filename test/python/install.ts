import { chosenEnvironments, pythonOf } from "./environments.ts";

/** Before all tests, or by itself: the environments that are chosen, each whole. Errors: when the package index fails. */
export function setup(): void {
  for (const environment of chosenEnvironments) pythonOf(environment);
}

if (import.meta.main) setup();
