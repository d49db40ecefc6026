/** A score as `/feedback/batch/create` takes it, at a time of its own. */
export interface SampleFeedback {
  readonly project_id: string;
  readonly weave_ref: string;
  readonly feedback_type: string;
  readonly payload: object;
  readonly created_at: string;
}

/** How good each answer was, by the hour it was given: worse at night, when the small model answers. */
export function scoreOf(projectId: string, callId: string, atMs: number): SampleFeedback {
  const hour = new Date(atMs).getUTCHours();
  const score = Math.round((0.95 - Math.abs(14 - hour) * 0.03) * 100) / 100;
  return {
    project_id: projectId,
    weave_ref: `weave:///${projectId}/call/${callId}`,
    feedback_type: "answer.quality",
    payload: { score, passed: score >= 0.7, label: score >= 0.7 ? "good" : "poor" },
    created_at: new Date(atMs).toISOString(),
  };
}
