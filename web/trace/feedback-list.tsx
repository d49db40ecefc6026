import type { Feedback } from "../api/routes.ts";
import { fullInstant } from "../format/instants.ts";
import { oneLine, visible } from "../format/plain-text.ts";

interface FeedbackListProps {
  readonly feedback: readonly Feedback[];
  readonly truncated: boolean;
  readonly zone: string;
}

/** The feedback on one call. */
export function FeedbackList({ feedback, truncated, zone }: FeedbackListProps) {
  if (feedback.length === 0) return <p className="dim">This call has no feedback.</p>;
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">type</th>
            <th scope="col">payload</th>
            <th scope="col">by</th>
            <th scope="col">when</th>
          </tr>
        </thead>
        <tbody>
          {feedback.map(({ id, feedback_type, payload, creator, created_at }) => (
            <tr key={id}>
              <td>
                <bdi>{oneLine(feedback_type ?? "")}</bdi>
              </td>
              <td>
                <pre dir="auto">{visible(JSON.stringify(payload, null, 1)).slice(0, 5000)}</pre>
              </td>
              <td>
                <bdi>{oneLine(creator ?? "")}</bdi>
              </td>
              <td>{created_at == null ? "" : fullInstant(created_at, zone)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {truncated && <p>There is more than these {feedback.length}.</p>}
    </>
  );
}
