import { startReferenceUpstream } from "../test/helpers/reference-upstream/server.ts";

// Test support: a stand-in for a training and model service, to try the gateway without one. The next fault to inject
// is POSTed to `_reference/faults`, in the form of `Fault`.
const upstream = await startReferenceUpstream({
  port: Number(process.env["PORT"] ?? 9099),
  stepMs: Number(process.env["STEP_MS"] ?? 1000),
});
console.log(`Reference upstream listening at ${upstream.url}`);
console.log(`TRAINING_UPSTREAM_URL=${upstream.url}`);
process.once("SIGTERM", () => void upstream.close());
process.once("SIGINT", () => void upstream.close());
