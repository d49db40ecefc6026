import fc from "fast-check";

// What fast-check draws without a seed from `chosenSeed`: it prints its own when a property fails, and `SEED` repeats it.
fc.configureGlobal({ seed: Number(process.env["SEED"]) });
