import { useMemo, useState } from "preact/hooks";
import { asCurl } from "../api/ask.ts";
import { useLoad } from "../api/use-load.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { DownloadButton } from "../parts/download-button.tsx";
import { LoadState, Notice } from "../parts/notice.tsx";
import type { Address } from "../state/address.ts";
import { readWindow } from "../state/time-window.ts";
import type { Go } from "../state/use-address.ts";
import { csvOfUsage } from "./csv-of-usage.ts";
import { GroupPicker } from "./group-picker.tsx";
import { loadUsage, MEASURES, usageQuestion, type Measure } from "./load-usage.ts";
import { UsageChart } from "./usage-chart.tsx";
import { UsageSummary } from "./usage-summary.tsx";
import { BucketTable, GroupTable } from "./usage-tables.tsx";
import "../style/charts.css";

interface UsageViewProps {
  readonly address: Address;
  readonly project: string;
  readonly zone: string;
  readonly go: Go;
}

export function UsageView({ address, project, zone, go }: UsageViewProps) {
  const { options } = address;
  const [round, setRound] = useState(0);
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const window = useMemo(
    () => readWindow(options["window"], Date.now()),
    [options["window"], project, round],
  );
  const measure: Measure = Object.hasOwn(MEASURES, options["measure"] ?? "")
    ? (options["measure"] as Measure)
    : "cost";
  const group = options["group"] ?? "llm";
  const question = { project, window, zone, group, measure, operand: undefined };
  const load = useLoad(JSON.stringify(question), (asking) => loadUsage(question, asking));
  const refresh = (): void => {
    setRound(round + 1);
    load.again();
  };
  const change = (more: Readonly<Record<string, string>>): void => go({ options: { ...options, ...more } });
  const { value } = load;
  return (
    <main class="usage-view" aria-busy={load.busy}>
      <h1 class="unseen">Usage</h1>
      <div class="summary">
        {value === undefined ? (
          <p class="answer">&nbsp;</p>
        ) : (
          <UsageSummary loaded={value} {...{ window, zone, measure }} />
        )}
        <div class="tools">
          <GroupPicker group={group} onGroup={(group) => change({ group })} />
          <label>
            show{" "}
            <select value={measure} onChange={(event) => change({ measure: event.currentTarget.value })}>
              {Object.entries(MEASURES).map(([name, { label }]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          <button onClick={refresh}>Refresh</button>
          {value !== undefined && (
            <DownloadButton label="CSV" name="usage.csv" text={() => csvOfUsage(value.stats)} />
          )}
          <CopyButton
            label="copy curl"
            title="The question behind this view"
            text={() => asCurl(usageQuestion(question))}
          />
        </div>
      </div>
      <LoadState load={load} />
      {value !== undefined && value.stats.total.calls === 0 && (
        <Notice kind="quiet" title="No call began in this window.">
          <button onClick={() => change({ window: "90d" })}>Look at 90 days</button>
        </Notice>
      )}
      {value !== undefined && value.stats.total.calls > 0 && (
        <div class="usage">
          <UsageChart stats={value.stats} {...{ zone, measure, hovered }} onHover={setHovered} />
          <GroupTable stats={value.stats} group={group} measure={measure} />
          <BucketTable stats={value.stats} {...{ zone, hovered }} onHover={setHovered} />
        </div>
      )}
    </main>
  );
}
