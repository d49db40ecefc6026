import { asCurl } from "../api/client.ts";
import type { UsageStats } from "../api/routes.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { DownloadButton } from "../components/download-button.tsx";
import { Segments } from "../components/segments.tsx";
import { csvOfUsage } from "./csv-of-usage.ts";
import { GroupPicker } from "./group-picker.tsx";
import { printGroups } from "../state/groups.ts";
import { INTERVALS, MEASURES, usageQuestion, type UsageQuestion } from "./load-usage.ts";

interface UsageToolsProps {
  readonly question: UsageQuestion;
  readonly asLines: boolean;
  /** Undefined: still being loaded. */
  readonly stats: UsageStats | undefined;
  readonly refresh: () => void;
  readonly change: (more: Readonly<Record<string, string>>) => void;
}

const labels = (all: Readonly<Record<string, { readonly label: string }>>) =>
  Object.fromEntries(Object.entries(all).map(([name, { label }]) => [name, label]));

/** Group, measure, interval, chart, and ways to export. */
export function UsageTools({ question, asLines, stats, refresh, change }: UsageToolsProps) {
  return (
    <div className="tools">
      <GroupPicker groups={question.groups} onGroups={(groups) => change({ group: printGroups(groups) })} />
      <Segments
        label="Show"
        all={labels(MEASURES)}
        chosen={question.measure}
        onChoose={(measure) => change({ measure })}
      />
      <label>
        <span className="unseen">Interval</span>
        <select
          value={question.interval}
          title="Interval"
          onChange={(event) => change({ interval: event.currentTarget.value })}
        >
          {Object.entries(INTERVALS).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <Segments
        label="As"
        all={{ bars: "Bars", lines: "Lines" }}
        chosen={asLines ? "lines" : "bars"}
        onChoose={(as) => change({ as })}
      />
      <button onClick={refresh} title="Refresh">
        Refresh
      </button>
      {stats !== undefined && (
        <DownloadButton label="CSV" name="usage.csv" text={() => ({ text: csvOfUsage(stats) })} />
      )}
      <CopyButton
        label="Copy curl"
        title="The question behind this view"
        text={() => asCurl(usageQuestion(question))}
      />
    </div>
  );
}
