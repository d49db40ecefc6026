import { asCurl } from "../api/ask.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { DownloadButton } from "../parts/download-button.tsx";
import { ColumnPicker } from "./column-picker.tsx";
import type { Layout } from "./columns.ts";
import { csvOfTraces } from "./csv-of-traces.ts";
import { addedRows, type TraceRow } from "./load-rows.ts";
import { SORTS, usageQuestion, type TracesQuestion } from "./traces-question.ts";

interface TracesToolsProps {
  readonly question: TracesQuestion;
  /** Undefined: still being loaded. */
  readonly rows: readonly TraceRow[] | undefined;
  readonly layout: Layout;
  readonly onLayout: (layout: Layout) => void;
  readonly refresh: () => void;
  readonly change: (more: Readonly<Record<string, string>>) => void;
}

/** Order, columns, refresh, and ways to export the rows. */
export function TracesTools(props: TracesToolsProps) {
  const { question, rows, layout, onLayout, refresh, change } = props;
  const never = new AbortController().signal;
  return (
    <div class="tools">
      <label>
        sort{" "}
        <select value={question.sort} onChange={(event) => change({ sort: event.currentTarget.value })}>
          {Object.entries(SORTS).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <ColumnPicker layout={layout} onLayout={onLayout} />
      <button onClick={refresh} title="Ask again, up to now">
        Refresh
      </button>
      {rows !== undefined && (
        <DownloadButton
          label="CSV"
          name="traces.csv"
          text={async () => csvOfTraces(await addedRows(question.project, rows, { signal: never }))}
        />
      )}
      <CopyButton
        label="copy curl"
        title="The question behind the total"
        text={() => asCurl(usageQuestion(question))}
      />
    </div>
  );
}
