import { useEffect } from "react";
import type { TrainingJob, Whoami } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { LoadState, Notice } from "../components/notice.tsx";
import { Table, type Column } from "../components/table.tsx";
import { FormattedValue } from "../components/figure.tsx";
import { counted, formatCount, formatDuration } from "../format/figure.ts";
import { fullInstant } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { useHrefTo, type ViewProps } from "../state/use-address.ts";
import type { HrefTo } from "../state/url-state.ts";
import { useWindow } from "../state/use-window.ts";
import { JobDetails } from "./job-details.tsx";
import { isOpen, loadJobs } from "./load-training.ts";
import "../style/charts.css";
import "../style/overview.css";

const REFRESH_MS = 5000;

/** Training jobs of the project, and one of them beside the model that it began with. */
export function TrainingView({ me, address, project, zone, go }: ViewProps & { readonly me: Whoami }) {
  const load = useQuery(`jobs\n${project}`, (asking) => loadJobs(project, asking));
  const { window } = useWindow(address, zone, 0);
  const hrefTo = useHrefTo(address);
  const jobs = load.value?.jobs;
  const open = jobs?.filter(isOpen).length ?? 0;
  const { refetch } = load;
  useEffect(() => {
    if (open === 0) return;
    const timer = setInterval(() => document.visibilityState === "visible" && refetch(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [open, refetch]);
  const job = jobs?.find(({ id }) => id === address.options["job"]) ?? jobs?.[0];
  return (
    <main className="settings training" aria-busy={load.busy}>
      <h1 className="unseen">Training</h1>
      <LoadState load={load} />
      {jobs !== undefined && (
        <section aria-label="Jobs">
          <h2>
            {counted(jobs.length, "job")}
            {open > 0 && `, ${open} running`}
            {load.value?.isCut === true && ", the newest"}
          </h2>
          {jobs.length > 0 && (
            <Table
              className="plain"
              label="Training jobs"
              rows={jobs}
              columns={columnsOf({ zone, hrefTo, shown: job?.id })}
            />
          )}
        </section>
      )}
      {jobs?.length === 0 && <NoJobs hrefTo={hrefTo} />}
      {job?.error != null && <Notice kind="error" title={oneLine(job.error)} />}
      {job !== undefined && <JobDetails key={job.id} {...{ job, me, project, zone, window, address, go }} />}
    </main>
  );
}

function NoJobs({ hrefTo }: { readonly hrefTo: HrefTo }) {
  return (
    <div className="empty" role="status">
      <h2>No training job yet</h2>
      <p>
        Choose good answers in <a href={hrefTo("traces")}>Traces</a>, make a dataset of these, and create a
        job through <code>{new URL("v1", document.baseURI).href}</code>.
      </p>
    </div>
  );
}

const SIGNS = { failed: "✕ ", unknown: "? ", running: "● ", pending: "○ ", uploading: "○ ", completed: "" };

interface Shown {
  readonly zone: string;
  readonly hrefTo: HrefTo;
  /** Id of the job that is shown below. */
  readonly shown: string | undefined;
}

function columnsOf({ zone, hrefTo, shown }: Shown): readonly Column<TrainingJob>[] {
  return [
    {
      name: "model",
      cell: ({ id, output_model: model }) => (
        <a href={hrefTo("training", { job: id })} aria-current={id === shown ? "true" : undefined}>
          <bdi>{oneLine(model ?? id, 80)}</bdi>
        </a>
      ),
    },
    {
      name: "status",
      cell: ({ status, forgotten }) => (
        <span className={status === "failed" ? "failed" : isOpenStatus(status) ? "live" : ""}>
          {SIGNS[status]}
          {status}
          {forgotten && ", forgotten by the service"}
        </span>
      ),
    },
    { name: "kind", cell: ({ kind }) => kind.toUpperCase() },
    {
      name: "base model",
      cell: ({ base_model: base }) => <bdi>{base === null ? "—" : oneLine(base, 60)}</bdi>,
    },
    { name: "started", cell: ({ created_at: at }) => fullInstant(at, zone) },
    {
      name: "took",
      kind: "number",
      cell: ({ created_at, ended_at }) =>
        ended_at === null ? (
          "—"
        ) : (
          <FormattedValue figure={formatDuration(Date.parse(ended_at) - Date.parse(created_at))} />
        ),
    },
    {
      name: "by",
      cell: ({ created_by: { svc_user_id, api_key } }) => (
        <bdi>{oneLine(svc_user_id ?? api_key ?? "—", 40)}</bdi>
      ),
    },
    {
      name: "lines",
      kind: "number",
      cell: ({ dataset: { lines } }) =>
        lines === null ? "—" : <FormattedValue figure={formatCount(lines)} />,
    },
    { name: "checkpoints", kind: "number", cell: ({ checkpoints }) => checkpoints.length },
  ];
}

function isOpenStatus(status: TrainingJob["status"]): boolean {
  return status === "running" || status === "pending" || status === "uploading";
}
