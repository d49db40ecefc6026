import { useState } from "react";
import { asCurl } from "../api/client.ts";
import { csvNameOf } from "../format/csv.ts";
import { counted, formatCount } from "../format/figure.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { lazy } from "../components/lazy.tsx";
import { DownloadButton } from "../components/download-button.tsx";
import type { FacetsOpen } from "./facet-panel.tsx";
import { allTraces, csvOfTraces } from "./csv-of-traces.ts";
import type { MadeDataset } from "./make-dataset.ts";
import { tracesQuestion, type TracesQuestion } from "./traces-question.ts";

const DatasetForm = lazy("dataset form", async () => (await import("./dataset-form.tsx")).DatasetForm);
const DatasetMade = lazy("dataset made", async () => (await import("./dataset-form.tsx")).DatasetMade);

interface TracesToolsProps {
  readonly question: TracesQuestion;
  readonly zone: string;
  readonly isLive: boolean;
  readonly onLive: (isLive: boolean) => void;
  readonly refresh: () => void;
  readonly facets: FacetsOpen;
}

/** Facets, refresh, and ways to export all rows. */
export function TracesTools({ question, zone, isLive, onLive, refresh, facets }: TracesToolsProps) {
  const never = new AbortController().signal;
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<MadeDataset | undefined>(undefined);
  return (
    <div className="tools">
      <button
        aria-expanded={facets.isOpen}
        title="Values that the traces have, to filter by"
        onClick={() => facets.open(!facets.isOpen)}
      >
        Filter
      </button>
      {question.window.toMs === undefined && (
        <button
          aria-pressed={isLive}
          title="Looks for new traces every five seconds"
          onClick={() => onLive(!isLive)}
        >
          <span aria-hidden="true">{isLive ? "●" : "○"}</span> Live
        </button>
      )}
      <button onClick={refresh} title="Refresh">
        Refresh
      </button>
      <DownloadButton
        label="CSV"
        name={csvNameOf("traces", question, zone)}
        text={async (tell) => {
          const { rows, total } = await allTraces(question, { signal: never }, (count) =>
            tell(`${counted(count, "row")} …`),
          );
          const lacks = `CSV has the first ${counted(rows.length, "trace")} of ${formatCount(total).text}`;
          return { text: csvOfTraces(rows, zone), ...(rows.length < total && { lacks }) };
        }}
      />
      <button
        className="quiet"
        title="Examples for training, of the calls of these traces"
        onClick={() => setMaking(true)}
      >
        Make a dataset of these
      </button>
      {isMaking && <DatasetForm {...{ question, zone }} onMade={setMade} onClose={() => setMaking(false)} />}
      {made !== undefined && <DatasetMade made={made} onClose={() => setMade(undefined)} />}
      <CopyButton
        label="Copy as cURL"
        title="The question behind this list"
        text={() => asCurl(tracesQuestion(question, {}))}
      />
    </div>
  );
}
