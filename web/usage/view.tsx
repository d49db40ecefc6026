import { useMemo, useState } from "preact/hooks";
import { useLoad } from "../api/use-load.ts";
import { FilterBar } from "../parts/filter-bar.tsx";
import { LoadState, Notice } from "../parts/notice.tsx";
import { operandOf, readFilter } from "../state/filters.ts";
import type { Address } from "../state/address.ts";
import { readWindow } from "../state/time-window.ts";
import type { Go } from "../state/use-address.ts";
import { readGroups } from "./groups.ts";
import { loadUsage, MEASURES, type Measure } from "./load-usage.ts";
import { UsageChart } from "./usage-chart.tsx";
import { UsageSummary } from "./usage-summary.tsx";
import { UsageTools } from "./usage-tools.tsx";
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
  const asLines = options["as"] === "lines";
  const groups = readGroups(options["group"]);
  const filter = useMemo(() => readFilter(options["calls"]), [options["calls"]]);
  const question = { project, window, zone, groups, measure, operand: operandOf(filter) };
  const load = useLoad(JSON.stringify(question), (asking) => loadUsage(question, asking));
  const refresh = (): void => {
    setRound(round + 1);
    load.again();
  };
  const change = (more: Readonly<Record<string, string>>): void => go({ options: { ...options, ...more } });
  const isFiltered = question.operand !== undefined;
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
        <UsageTools {...{ question, asLines, refresh, change }} stats={value?.stats} />
      </div>
      <FilterBar filter={filter} onFilter={(calls) => change({ calls })} />
      <LoadState load={load} />
      {value?.stats.total.calls === 0 && (
        <Notice
          kind="quiet"
          title={isFiltered ? "No call of this window matches." : "No call began in this window."}
        >
          <button onClick={() => change({ window: "90d" })}>Look at 90 days</button>
        </Notice>
      )}
      {value !== undefined && value.stats.total.calls > 0 && (
        <div class="usage">
          <UsageChart stats={value.stats} {...{ zone, measure, asLines, hovered }} onHover={setHovered} />
          {groups.length > 0 && <GroupTable stats={value.stats} {...{ groups, measure }} />}
          <BucketTable stats={value.stats} {...{ zone, hovered }} onHover={setHovered} />
        </div>
      )}
    </main>
  );
}
