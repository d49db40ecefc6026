import { asCurl } from "../api/client.ts";
import { csvNameOf } from "../format/csv.ts";
import { counted, formatCount } from "../format/figure.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { DownloadButton } from "../components/download-button.tsx";
import type { FacetsOpen } from "./facet-panel.tsx";
import { allTraces, csvOfTraces } from "./csv-of-traces.ts";
import { tracesQuestion, type TracesQuestion } from "./traces-question.ts";

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
      <CopyButton
        label="Copy as cURL"
        title="The question behind this list"
        text={() => asCurl(tracesQuestion(question, {}))}
      />
    </div>
  );
}
