import { asCurl } from "../api/ask.ts";
import type { UsageStats } from "../api/routes.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { DownloadButton } from "../parts/download-button.tsx";
import { csvOfUsage } from "./csv-of-usage.ts";
import { GroupPicker } from "./group-picker.tsx";
import { printGroups } from "./groups.ts";
import { MEASURES, usageQuestion, type UsageQuestion } from "./load-usage.ts";

interface UsageToolsProps {
  readonly question: UsageQuestion;
  readonly asLines: boolean;
  /** Undefined: still being loaded. */
  readonly stats: UsageStats | undefined;
  readonly refresh: () => void;
  readonly change: (more: Readonly<Record<string, string>>) => void;
}

/** Group, measure, chart, and ways to export. */
export function UsageTools({ question, asLines, stats, refresh, change }: UsageToolsProps) {
  return (
    <div class="tools">
      <GroupPicker groups={question.groups} onGroups={(groups) => change({ group: printGroups(groups) })} />
      <label>
        show{" "}
        <select value={question.measure} onChange={(event) => change({ measure: event.currentTarget.value })}>
          {Object.entries(MEASURES).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label>
        as{" "}
        <select
          value={asLines ? "lines" : "bars"}
          onChange={(event) => change({ as: event.currentTarget.value })}
        >
          <option>bars</option>
          <option>lines</option>
        </select>
      </label>
      <button onClick={refresh}>Refresh</button>
      {stats !== undefined && <DownloadButton label="CSV" name="usage.csv" text={() => csvOfUsage(stats)} />}
      <CopyButton
        label="copy curl"
        title="The question behind this view"
        text={() => asCurl(usageQuestion(question))}
      />
    </div>
  );
}
