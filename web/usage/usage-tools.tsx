import { asCurl } from "../api/client.ts";
import type { UsageStats } from "../api/routes.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { DownloadButton } from "../components/download-button.tsx";
import { Menu } from "../components/menu.tsx";
import { Segments } from "../components/segments.tsx";
import { csvNameOf } from "../format/csv.ts";
import { canBeOfTraces, printGroups } from "../state/groups.ts";
import { INTERVALS } from "../state/time-range.ts";
import { csvOfUsage } from "./csv-of-usage.ts";
import { GroupPicker } from "./group-picker.tsx";
import { usageQuestion, type UsageQuestion } from "./load-usage.ts";
import { measuresOf } from "./measures.ts";

interface UsageToolsProps {
  readonly question: UsageQuestion;
  readonly asLines: boolean;
  /** Undefined: still being loaded. */
  readonly stats: UsageStats | undefined;
  readonly refresh: () => void;
  readonly change: (more: Readonly<Record<string, string>>) => void;
}

/** Group, measure, interval, chart, and ways to export. */
export function UsageTools({ question, asLines, stats, refresh, change }: UsageToolsProps) {
  const { zone, of, groups, measure, interval } = question;
  return (
    <div className="tools">
      <GroupPicker {...{ question }} onGroups={(next) => change({ group: printGroups(next) })} />
      {canBeOfTraces(groups) && (
        <Segments
          label="Count"
          all={{ traces: "By trace", calls: "Of each call" }}
          chosen={of}
          onChoose={(next) => change({ of: next === "calls" ? next : "" })}
        />
      )}
      <Segments
        label="Show"
        all={measuresOf(of)}
        chosen={measure}
        onChoose={(next) => change({ measure: next })}
      />
      <button onClick={refresh} title="Refresh" aria-label="Refresh">
        ↻
      </button>
      <Menu label="⋯" name="More">
        {() => (
          <>
            <Segments
              label="Interval"
              all={INTERVALS}
              chosen={interval}
              onChoose={(next) => change({ interval: next })}
            />
            <Segments
              label="As"
              all={{ bars: "Bars", lines: "Lines" }}
              chosen={asLines ? "lines" : "bars"}
              onChoose={(as) => change({ as })}
            />
            {stats !== undefined && (
              <DownloadButton
                label="CSV"
                name={csvNameOf("usage", question, zone)}
                text={() => ({ text: csvOfUsage(stats) })}
              />
            )}
            <CopyButton
              label="Copy as cURL"
              title="The question behind this view"
              text={() => asCurl(usageQuestion(question))}
            />
          </>
        )}
      </Menu>
    </div>
  );
}
