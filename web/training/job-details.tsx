import { useState } from "react";
import type { TrainingJob, Whoami } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { JsonTree } from "../components/json-tree.tsx";
import { LoadState } from "../components/notice.tsx";
import { useSuggestedRating } from "../components/use-rating.ts";
import { counted } from "../format/figure.ts";
import { RATING_PATTERN, readRating } from "../state/rating.ts";
import type { TimeRange } from "../state/time-range.ts";
import type { UrlState } from "../state/url-state.ts";
import { useHrefTo, type Go } from "../state/use-address.ts";
import { JobCourse } from "./job-course.tsx";
import { loadExport, loadModels } from "./load-training.ts";
import { ModelTable } from "./model-table.tsx";

interface JobDetailsProps {
  readonly job: TrainingJob;
  readonly me: Whoami;
  readonly project: string;
  readonly zone: string;
  readonly window: TimeRange;
  readonly address: UrlState;
  readonly go: Go;
}

/** Checkpoints beside the base model, the data, the course and the settings of a job. */
export function JobDetails({ job, me, project, zone, window, address, go }: JobDetailsProps) {
  const { options } = address;
  const suggested = useSuggestedRating(project, window);
  const text = options["outcome"] ?? suggested ?? "";
  const rating = readRating(text);
  const question = { project, window, rating };
  const models = useQuery(
    `models ${JSON.stringify(question)}`,
    (asking) => loadModels(question, asking),
    `models ${project}`,
  );
  const hrefTo = useHrefTo(address);
  return (
    <>
      <section aria-busy={models.busy} aria-label="Checkpoints">
        <h2>Is it better, is it cheaper?</h2>
        <OutcomeInput key={text} text={text} onText={(outcome) => go({ options: { ...options, outcome } })} />
        <LoadState load={models} />
        {models.value !== undefined && <ModelTable {...{ job, hrefTo }} models={models.value} />}
      </section>
      <section aria-label="Data">
        <h2>Data</h2>
        <Dataset {...{ job, project }} />
      </section>
      <JobCourse {...{ job, me, zone }} />
      <section aria-label="Settings of the job">
        <JsonTree label="Request" value={job.request} find="" />
      </section>
    </>
  );
}

/** Says which answers pass. */
function OutcomeInput({ text, onText }: { readonly text: string; readonly onText: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  return (
    <form
      className="tools"
      onSubmit={(event) => {
        event.preventDefault();
        onText(typed.trim());
      }}
    >
      <label>
        An answer passes if{" "}
        <input
          value={typed}
          pattern={RATING_PATTERN}
          placeholder="score >= 0.5"
          title="A path of the feedback, an operator and a value: score >= 0.5"
          onChange={({ currentTarget: { value } }) => setTyped(value)}
        />
      </label>
      <button type="submit">Compare</button>
    </form>
  );
}

function Dataset({ job: { dataset }, project }: Pick<JobDetailsProps, "job" | "project">) {
  const { export_id: id, bytes, lines, sha256 } = dataset;
  const load = useQuery(id === null ? undefined : `export ${project} ${id}`, (asking) =>
    loadExport(project, id!, asking).then((found) => ({ found })),
  );
  const found = load.value?.found;
  return (
    <>
      <p>
        {lines !== null && `${counted(lines, "line")}, `}
        {counted(bytes, "byte")}
        {sha256 !== null && (
          <>
            , sha256 <code>{sha256}</code>
          </>
        )}
      </p>
      <LoadState load={load} />
      {found !== undefined && (
        <>
          <p>
            Made of {counted(found.counts.selected, "call")} as {found.format}:{" "}
            {counted(found.counts.exported, "call")} exported
            {found.counts.held_out > 0 && `, ${found.counts.held_out} held out`}
            {Object.entries(found.counts.left_out).map(
              ([reason, count]) => `, ${count} left out (${reason.replaceAll("_", " ")})`,
            )}
            .
          </p>
          <JsonTree label="Question" value={found.question} find="" />
        </>
      )}
      {id === null && <p className="dim">The upload names no export of this project.</p>}
    </>
  );
}
