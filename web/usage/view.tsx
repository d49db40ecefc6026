import { useMemo, useState } from "react";
import { useQuery } from "../api/use-query.ts";
import { LoadState, Notice } from "../components/notice.tsx";
import { SearchBox } from "../components/search-box.tsx";
import { printAddress, type UrlState } from "../state/url-state.ts";
import { readQuery } from "../state/query.ts";
import { printWindow } from "../state/time-range.ts";
import type { Go } from "../state/use-address.ts";
import { useWindow } from "../state/use-window.ts";
import { nextGroup, searchOfGroup } from "./drill.ts";
import { printGroups, readGroups } from "./groups.ts";
import { intervalOf, loadUsage, MEASURES, type LoadedUsage, type Measure } from "./load-usage.ts";
import { UsageChart } from "./usage-chart.tsx";
import { UsageSummary } from "./usage-summary.tsx";
import { UsageTools } from "./usage-tools.tsx";
import { BucketTable, GroupTable } from "./usage-tables.tsx";
import "../style/charts.css";

interface UsageViewProps {
  readonly address: UrlState;
  readonly project: string;
  readonly zone: string;
  readonly go: Go;
}

export function UsageView({ address, project, zone, go }: UsageViewProps) {
  const { options } = address;
  const [round, setRound] = useState(0);
  const { window, before } = useWindow(address, zone, round);
  const measure: Measure = Object.hasOwn(MEASURES, options["measure"] ?? "")
    ? (options["measure"] as Measure)
    : "cost";
  const asLines = options["as"] === "lines";
  const groups = readGroups(options["group"]);
  const text = options["calls"] ?? "";
  const query = useMemo(() => readQuery(text), [text]);
  const interval = intervalOf(options["interval"]);
  const question = { project, window, before, zone, groups, measure, interval, operand: query.operand };
  const isReadable = query.faults.length === 0;
  const load = useQuery(
    isReadable ? JSON.stringify(question) : undefined,
    (asking) => loadUsage(question, asking),
    `usage ${project}`,
  );
  const change = (more: Readonly<Record<string, string>>): void => go({ options: { ...options, ...more } });
  const value = isReadable ? load.value : undefined;
  const stats = value?.stats;
  return (
    <main className={`usage-view ${load.isOld ? "old" : ""}`} aria-busy={load.busy}>
      <h1 className="unseen">Usage</h1>
      <div className="summary">
        {value === undefined ? (
          <p className="answer">&nbsp;</p>
        ) : (
          <UsageSummary loaded={value} {...{ window, before, zone, measure }} />
        )}
        <UsageTools
          {...{ question, asLines, change, stats }}
          refresh={() => {
            setRound(round + 1);
            load.refetch();
          }}
        />
      </div>
      <SearchBox text={text} of="calls" query={query} onText={(calls) => change({ calls })} />
      {isReadable && <LoadState load={load} />}
      {stats?.total.calls === 0 && (
        <Notice
          kind="quiet"
          title={
            query.operand !== undefined ? "No call of this window matches." : "No call began in this window."
          }
        >
          <button onClick={() => change({ window: "90d" })}>Show last 90 days</button>
        </Notice>
      )}
      {value !== undefined && value.stats.total.calls > 0 && (
        <Shown loaded={value} {...{ address, text, zone, groups, measure, asLines, change }} />
      )}
    </main>
  );
}

interface ShownProps {
  readonly loaded: LoadedUsage;
  readonly address: UrlState;
  /** The search. */
  readonly text: string;
  readonly zone: string;
  readonly groups: readonly string[];
  readonly measure: Measure;
  readonly asLines: boolean;
  readonly change: (more: Readonly<Record<string, string>>) => void;
}

/** The chart and the tables; everything in them leads to what it is made of. */
function Shown({ loaded, address, text, zone, groups, measure, asLines, change }: ShownProps) {
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const { stats } = loaded;
  const times = stats.buckets.map(({ timestamp }) => Date.parse(timestamp));
  const windowOf = (bucket: number): string => {
    const fromMs = times[bucket] ?? 0;
    const toMs = times[bucket + 1] ?? fromMs + stats.granularity * 1000;
    return printWindow({ fromMs, toMs });
  };
  const hrefTo = (view: "usage" | "traces", more: UrlState["options"]): string =>
    printAddress({ ...address, view, options: { ...address.options, ...more } });
  return (
    <div className="usage">
      <UsageChart
        key={stats.granularity}
        stats={stats}
        {...{ zone, measure, asLines, hovered }}
        onHover={setHovered}
        onOpen={(bucket, group) => {
          const key = group === undefined ? undefined : stats.groups[group]?.key;
          const calls = key === undefined ? undefined : searchOfGroup(text, key);
          change({ window: windowOf(bucket), ...(calls !== undefined && { calls }) });
        }}
        onZoom={(fromMs, toMs) => change({ window: printWindow({ fromMs, toMs }) })}
      />
      {groups.length > 0 && (
        <GroupTable
          key={measure}
          loaded={loaded}
          {...{ groups, measure }}
          hrefOf={(key) => {
            const search = searchOfGroup(text, key);
            const more = { calls: search ?? "", group: printGroups([nextGroup(groups)]) };
            return {
              within: search === undefined ? undefined : hrefTo("usage", more),
              traces: search === undefined ? undefined : hrefTo("traces", { q: search, sort: "cost" }),
            };
          }}
        />
      )}
      <BucketTable
        stats={stats}
        {...{ zone, hovered }}
        onHover={setHovered}
        hrefOf={(bucket) => ({
          within: hrefTo("usage", { window: windowOf(bucket), interval: "" }),
          traces: hrefTo("traces", { window: windowOf(bucket), q: text, sort: "cost" }),
        })}
      />
    </div>
  );
}
