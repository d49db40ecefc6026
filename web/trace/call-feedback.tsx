import { postJson } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { LoadState } from "../components/notice.tsx";
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
      {load.value !== undefined && feedback.length === 0 && <p className="dim">This call has no feedback.</p>}
      {feedback.length > 0 && (
        <table>
          <thead>
            <tr>
              {["feedback", "by", "when"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {feedback.map(({ id, feedback_type, payload, creator, created_at }) => (
              <tr key={id}>
                <td dir="auto" className="said">
                  {wordsOf(feedback_type ?? "", payload ?? {}).map(([name, text]) => (
                    <p key={name}>
                      {name !== "" && <span className="dim">{oneLine(name, 80)}: </span>}
                      {visible(text).slice(0, MAX_TEXT)}
                    </p>
                  ))}
                </td>
                <td>
                  <bdi>{oneLine(creator ?? "")}</bdi>
                </td>
                <td>{created_at == null ? "" : fullInstant(created_at, zone)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {load.value?.truncated === true && <p>There is more than these {feedback.length}.</p>}
    </div>
  );
}
