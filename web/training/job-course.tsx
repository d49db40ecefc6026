import type { TrainingJob, Whoami } from "../api/routes.ts";
import { FormattedValue } from "../components/figure.tsx";
import { Spark } from "../components/spark.tsx";
import { Table } from "../components/table.tsx";
import { counted, formatUsd, plainNumber } from "../format/figure.ts";
import { formatTime } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { drawnOf, linesOf, otherMetrics, wordsOf, type MetricLine } from "./events.ts";
import { useEvents, type LoadedEvents } from "./use-events.ts";

const MAX_LISTED = 8;

interface JobCourseProps {
  readonly job: TrainingJob;
  readonly me: Whoami;
  readonly zone: string;
}

/** The metrics of a job as lines, and its last events. */
export function JobCourse({ job, me, zone }: JobCourseProps) {
  const mayAsk = me.scopes.some((scope) => scope === "train" || scope === "admin");
  const loaded = useEvents(job, mayAsk);
  const { events, busy } = loaded;
  const lines = linesOf(events);
  const drawn = drawnOf(lines);
  const others = otherMetrics(job, { lines, drawn });
  const why = whyNot(job, mayAsk, loaded);
  return (
    <>
      <section aria-label="Metrics" aria-busy={busy}>
        <h2>
          Metrics{drawn[0] !== undefined && `, over ${counted(drawn[0].values.length, "gradient step")}`}
        </h2>
        {job.stated_cost !== null && <p>The service states a cost of {formatUsd(job.stated_cost).text}.</p>}
        {why !== undefined && (
          <p className="dim" role="status">
            {why}
          </p>
        )}
        {drawn.length > 0 && (
          <ul className="lines">
            {drawn.map((line) => (
              <MetricCard key={line.name} line={line} />
            ))}
          </ul>
        )}
        {(others.length > 0 || drawn.length === 0) && (
          <Table
            className="plain"
            label={drawn.length > 0 ? "Other metrics" : "Last metrics"}
            none={busy ? "Loading…" : "None reported yet."}
            rows={others}
            columns={[
              {
                name: drawn.length > 0 ? "other metric" : "metric",
                cell: ([name]) => <bdi>{oneLine(name, 80)}</bdi>,
              },
              {
                name: "last value",
                kind: "number",
                cell: ([, value]) => <FormattedValue figure={plainNumber(value)} />,
              },
            ]}
          />
        )}
      </section>
      {events.length > 0 && <Events {...{ loaded, zone }} />}
    </>
  );
}

function MetricCard({ line: { name, values, first, last } }: { readonly line: MetricLine }) {
  const buckets = { times: [...values.keys()], endMs: values.length };
  return (
    <li className="card">
      <bdi className="path">{oneLine(name, 60)}</bdi>
      <span className="value">
        <FormattedValue figure={plainNumber(last)} />
      </span>
      <small className="dim">
        from <FormattedValue figure={plainNumber(first)} />
      </small>
      <Spark buckets={buckets} values={values} />
    </li>
  );
}

function Events({
  loaded: { events, seenMs },
  zone,
}: {
  readonly loaded: LoadedEvents;
  readonly zone: string;
}) {
  const last = events.slice(-MAX_LISTED).toReversed();
  return (
    <section aria-label="Events">
      <h2>
        {counted(events.length, "event")}
        {events.length > MAX_LISTED && `, the last ${MAX_LISTED}`}
      </h2>
      <ol className="events">
        {last.map((event) => {
          const ms = seenMs.get(event.id);
          return (
            <li key={event.id} className={event.type === "training_failed" ? "failed" : ""}>
              {wordsOf(event)}
              {ms !== undefined && (
                <small className="dim">
                  {" seen "}
                  {formatTime(new Date(ms).toISOString(), zone, { now: Date.now() }).replace(/\.\d+$/, "")}
                </small>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** Says why there are no lines, or no newer ones. */
function whyNot({ forgotten }: TrainingJob, mayAsk: boolean, { failure, events, isCut }: LoadedEvents) {
  const shown =
    events.length > 0 ? "what it has told so far is shown" : "the last values that were read are shown";
  if (forgotten) return `The training service has forgotten this job: ${shown}.`;
  if (!mayAsk) return `Lines and events need a key with the scope train: ${shown}.`;
  if (failure === undefined)
    return isCut ? `Only the first ${counted(events.length, "event")} are read.` : undefined;
  const status = failure.kind === "refused" ? failure.status : undefined;
  if (status === 404) return `The training service does not know this job: ${shown}.`;
  if (status === 401 || status === 403) return `This key may not read the events of this job: ${shown}.`;
  return `The training service cannot be read: ${shown}.`;
}
