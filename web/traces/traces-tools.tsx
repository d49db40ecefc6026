import { asCurl } from "../api/client.ts";
import { counted } from "../format/figure.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { DownloadButton } from "../components/download-button.tsx";
import { ColumnPicker } from "./column-picker.tsx";
import type { Layout } from "./columns.ts";
import { allTraces, csvOfTraces } from "./csv-of-traces.ts";
import { tracesQuestion, type TracesQuestion } from "./traces-question.ts";

interface TracesToolsProps {
  readonly question: TracesQuestion;
  readonly layout: Layout;
  readonly onLayout: (layout: Layout) => void;
  readonly isLive: boolean;
  readonly onLive: (isLive: boolean) => void;
  readonly refresh: () => void;
}

/** Columns, refresh, and ways to export all rows. */
export function TracesTools({ question, layout, onLayout, isLive, onLive, refresh }: TracesToolsProps) {
  const never = new AbortController().signal;
  return (
    <div className="tools">
      {question.window.toMs === undefined && (
        <button
          aria-pressed={isLive}
          title="Looks for new traces every five seconds"
          onClick={() => onLive(!isLive)}
        >
          <span aria-hidden="true">{isLive ? "●" : "○"}</span> Live
        </button>
      )}
      <ColumnPicker layout={layout} onLayout={onLayout} />
      <button onClick={refresh} title="Refresh">
        Refresh
      </button>
      <DownloadButton
        label="CSV"
        name="traces.csv"
        text={async (tell) =>
          csvOfTraces(
            await allTraces(question, { signal: never }, (count) => tell(`${counted(count, "row")} …`)),
          )
        }
      />
      <CopyButton
        label="Copy curl"
        title="The question behind this list"
        text={() => asCurl(tracesQuestion(question, {}))}
      />
    </div>
  );
}
