import { postJson } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { LoadState } from "../components/notice.tsx";
import { Table } from "../components/table.tsx";
import { fullInstant } from "../format/instants.ts";
import { wordsOf } from "../format/feedback-words.ts";
import { oneLine, visible } from "../format/plain-text.ts";

interface CallFeedbackProps {
  readonly project: string;
  readonly id: string;
  readonly zone: string;
}

const MAX_TEXT = 5000;

/** The feedback on one call. */
export function CallFeedback({ project, id, zone }: CallFeedbackProps) {
  const load = useQuery(`feedback\n${project}\n${id}`, (asking) => {
    const isOfCall = { $eq: [{ $getField: "weave_ref" }, { $literal: `weave:///${project}/call/${id}` }] };
    const body = { project_id: project, query: { $expr: isOfCall }, limit: 100 };
    return postJson({ path: "/feedback/query", body }, asking);
  });
  const feedback = load.value?.body.result ?? [];
  return (
    <div aria-busy={load.busy}>
      <LoadState load={load} />
      {load.value !== undefined && (
        <Table
          label="Feedback on the call"
          none="This call has no feedback."
          rows={feedback}
          columns={[
            {
              name: "feedback",
              cell: ({ feedback_type, payload }) => (
                <div dir="auto" className="said">
                  {wordsOf(feedback_type ?? "", payload ?? {}).map(([name, text]) => (
                    <p key={name}>
                      {name !== "" && <span className="dim">{oneLine(name, 80)}: </span>}
                      {visible(text).slice(0, MAX_TEXT)}
                    </p>
                  ))}
                </div>
              ),
            },
            { name: "by", cell: ({ creator }) => <bdi>{oneLine(creator ?? "")}</bdi> },
            { name: "when", cell: ({ created_at: at }) => at != null && fullInstant(at, zone) },
          ]}
        />
      )}
      {load.value?.truncated === true && <p>There is more than these {feedback.length}.</p>}
    </div>
  );
}
