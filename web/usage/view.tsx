import { useMemo, useState } from "react";
import { useQuery } from "../api/use-query.ts";
import type { UsageStats } from "../api/routes.ts";
import { bucketsOf, windowOf } from "../components/chart-buckets.ts";
import { NothingHere } from "../components/nothing-here.tsx";
import { LoadState } from "../components/notice.tsx";
import { SearchBox } from "../components/search-box.tsx";
import type { HrefTo, UrlState } from "../state/url-state.ts";
import { readQuery } from "../state/query.ts";
import { printWindow } from "../state/time-range.ts";
import { useHrefTo, type Go } from "../state/use-address.ts";
import { useWindow } from "../state/use-window.ts";
import { nextGroup, searchOfGroup, SORT_OF, tracesOf } from "../state/drill.ts";
import { printGroups, readGroups } from "../state/groups.ts";
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
  const groups = useMemo(() => readGroups(options["group"]), [options["group"]]);
  const text = options["q"] ?? "";
  const query = useMemo(() => readQuery(text, "calls"), [text]);
  const interval = intervalOf(options["interval"]);
  const question = { project, window, before, zone, groups, measure, interval, operand: query.operand };
  const isReadable = query.faults.length === 0;
  const load = useQuery(
    isReadable ? JSON.stringify(question) : undefined,
    (asking) => loadUsage(question, asking),
    `usage ${project}`,
  );
  const hrefTo = useHrefTo(address);
  const change = (more: UrlState["options"]): void => go({ options: { ...options, ...more } });
  const value = isReadable ? load.value : undefined;
  const stats = value?.stats;
  return (
    <main className={`usage-view ${load.isOld ? "old" : ""}`} aria-busy={load.busy}>
      <h1 className="unseen">Usage</h1>
      <div className="summary">
        {value === undefined ? (
          <p className="answer">&nbsp;</p>
        ) : (
          <UsageSummary loaded={value} {...{ window, before, zone, measure, text, hrefTo }} />
        )}
        <UsageTools
          {...{ question, asLines, change, stats }}
          refresh={() => {
            setRound(round + 1);
            load.refetch();
          }}
        />
      </div>
      <SearchBox text={text} of="calls" query={query} onText={(q) => change({ q })} />
      {isReadable && <LoadState load={load} />}
      {stats?.total.calls === 0 && (
        <NothingHere
          {...{ project, options, go }}
          what={
            query.operand === undefined ? "No call began in this window." : "No call of this window matches."
          }
        />
      )}
      {value !== undefined && value.stats.total.calls > 0 && (
        <Shown loaded={value} {...{ text, zone, groups, measure, asLines, change, hrefTo }} />
      )}
    </main>
  );
}

interface ShownProps {
  readonly loaded: LoadedUsage;
  /** The search. */
  readonly text: string;
  readonly zone: string;
  readonly groups: readonly string[];
  readonly measure: Measure;
  readonly asLines: boolean;
  readonly change: (more: UrlState["options"]) => void;
  readonly hrefTo: HrefTo;
}

/** The chart and the tables; everything in them leads to what it is made of. */
function Shown({ loaded, text, zone, groups, measure, asLines, change, hrefTo }: ShownProps) {
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const { stats } = loaded;
  const buckets = useMemo(() => bucketsOf(stats, zone), [stats, zone]);
  const links = useMemo(() => {
    const windowAt = (bucket: number): string => printWindow(windowOf(buckets, bucket));
    return {
      part: (bucket: number, group?: number) => {
        const window = windowAt(bucket);
        if (group === undefined) return hrefTo("usage", { window, interval: "" });
        const q = searchOfGroup(text, stats.groups[group]?.key ?? {});
        return q === undefined ? undefined : hrefTo("traces", { window, q, sort: SORT_OF[measure] });
      },
      group: (key: UsageStats["groups"][number]["key"]) => {
        const q = searchOfGroup(text, key);
        if (q === undefined) return undefined;
        const within = hrefTo("usage", { q, group: printGroups([nextGroup(groups)]) });
        return { within, traces: tracesOf(hrefTo, q) };
      },
      bucket: (bucket: number) => ({
        within: hrefTo("usage", { window: windowAt(bucket), interval: "" }),
        traces: tracesOf(hrefTo, text, windowAt(bucket)),
      }),
    };
  }, [buckets, stats, text, measure, groups, hrefTo]);
  const pointing = { hovered, onHover: setHovered };
  return (
    <div className="usage">
      <UsageChart
        {...{ stats, buckets, zone, measure, asLines, ...pointing }}
        hrefOf={links.part}
        onZoom={(window) => change({ window: printWindow(window) })}
      />
      {groups.length > 0 && (
        <GroupTable
          key={measure}
          {...{ loaded, groups, measure }}
          hrefOf={links.group}
          all={tracesOf(hrefTo, text)}
        />
      )}
      <BucketTable {...{ stats, buckets, zone, ...pointing }} hrefOf={links.bucket} />
    </div>
  );
}
