import { useMemo, useState } from "react";
import { useQuery } from "../api/use-query.ts";
import type { UsageStats, Whoami } from "../api/routes.ts";
import { bucketsOf, windowOf } from "../components/chart-buckets.ts";
import { NothingHere } from "../components/nothing-here.tsx";
import { LoadState } from "../components/notice.tsx";
import { SearchBox } from "../components/search-box.tsx";
import type { Column } from "../components/table.tsx";
import { Segments } from "../components/segments.tsx";
import type { HrefTo, UrlState } from "../state/url-state.ts";
import { readQuery } from "../state/query.ts";
import { intervalOf, printWindow } from "../state/time-range.ts";
import { useHrefTo, type ViewProps } from "../state/use-address.ts";
import { useWindow } from "../state/use-window.ts";
import { nextGroup, searchOfGroup, tracesOf } from "../state/drill.ts";
import { ERROR, nameOfGroup, printGroups, readGroups, subjectOf } from "../state/groups.ts";
import { loadUsage, searchBehind, type LoadedUsage } from "./load-usage.ts";
import { measureOf } from "./measures.ts";
import { useOutcomeColumns } from "./outcome-columns.tsx";
import { NoneHint } from "./none-hint.tsx";
import { UsageChart } from "./usage-chart.tsx";
import { budgetColumn, type UsageRow } from "./usage-columns.tsx";
import { UsageSummary } from "./usage-summary.tsx";
import { UsageTable } from "./usage-table.tsx";
import { UsageTools } from "./usage-tools.tsx";
import "../style/charts.css";

export function UsageView({ me, address, project, zone, go }: ViewProps & { readonly me: Whoami }) {
  const { options } = address;
  const [round, setRound] = useState(0);
  const { window, before } = useWindow(address, zone, round);
  const text = options["q"] ?? "";
  // conditions on roots select traces, which have no model
  const group = options["group"] || (/(^|\s)-?root\./.test(text) ? "op_name" : "");
  const groups = useMemo(() => readGroups(group), [group]);
  const of = subjectOf(groups, options["of"]);
  const measure = measureOf(options["measure"], of);
  const asLines = options["as"] === "lines";
  const query = useMemo(() => readQuery(text, of === "calls" ? of : "usage of traces"), [text, of]);
  const interval = intervalOf(options["interval"]);
  const question = { project, window, before, zone, of, groups, measure, interval, text };
  const isReadable = query.faults.length === 0;
  const load = useQuery(
    isReadable ? JSON.stringify(question) : undefined,
    (asking) => loadUsage(question, asking),
    `usage ${project}`,
  );
  const hrefTo = useHrefTo(address);
  const change = (more: UrlState["options"]): void => go({ options: { ...options, ...more } });
  const value = isReadable ? load.value : undefined;
  const { calls = 0 } = value?.stats.total ?? {};
  return (
    <main className="usage-view" aria-busy={load.busy}>
      <h1 className="unseen">Usage</h1>
      <div className="summary">
        {value === undefined ? (
          <p className="answer">&nbsp;</p>
        ) : (
          <UsageSummary loaded={value} {...{ hrefTo }} />
        )}
        <UsageTools
          {...{ question, asLines, change }}
          stats={load.isOld ? undefined : value?.stats}
          refresh={() => {
            setRound(round + 1);
            load.refetch();
          }}
        />
      </div>
      <SearchBox {...{ text, of, query }} onText={(q) => change({ q })} />
      {isReadable && <LoadState load={load} />}
      {value !== undefined && calls === 0 && (
        <NothingHere
          {...{ project, options, go }}
          what={text === "" ? "No call began in this window." : "No call of this window matches."}
        />
      )}
      {value !== undefined && calls > 0 && (
        <div className={load.isOld ? "usage old" : "usage"}>
          <Shown
            loaded={value}
            {...{ asLines, change, hrefTo }}
            isOverTime={options["rows"] === "time"}
            more={me.scopes.includes("admin") ? [budgetColumn(hrefTo)] : []}
          />
        </div>
      )}
    </main>
  );
}

interface ShownProps {
  readonly loaded: LoadedUsage;
  readonly asLines: boolean;
  readonly isOverTime: boolean;
  readonly more: readonly Column<UsageRow>[];
  readonly change: (more: UrlState["options"]) => void;
  readonly hrefTo: HrefTo;
}

/** The chart and the table of one answer; everything in them leads to what it is made of. */
function Shown({ loaded, asLines, isOverTime, more, change, hrefTo }: ShownProps) {
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const { stats, question } = loaded;
  const { zone, of, groups, measure } = question;
  const text = searchBehind(question);
  const buckets = useMemo(() => bucketsOf(stats, zone), [stats, zone]);
  const links = useMemo(() => {
    const windowAt = (bucket: number): string => printWindow(windowOf(buckets, bucket));
    const patterns = groups.includes(ERROR) ? stats.groups.map(({ key }) => String(key[ERROR])) : [];
    const searchOf = (key: UsageStats["groups"][number]["key"]) => searchOfGroup(key, { text, of, patterns });
    return {
      part: (bucket: number, group?: number) => {
        const window = windowAt(bucket);
        if (group === undefined) return hrefTo("usage", { window, interval: "" });
        const q = searchOf(stats.groups[group]?.key ?? {});
        return q === undefined ? undefined : tracesOf(hrefTo, { text: q, of, window })(measure);
      },
      group: (key: UsageStats["groups"][number]["key"]) => {
        const q = searchOf(key);
        if (q === undefined) return undefined;
        const group = printGroups([nextGroup(groups, of)]);
        const within = hrefTo("usage", { q, group, of: of === "calls" ? of : "" });
        return { within, traces: tracesOf(hrefTo, { text: q, of }) };
      },
      bucket: (bucket: number) => ({
        within: hrefTo("usage", { window: windowAt(bucket), interval: "" }),
        traces: tracesOf(hrefTo, { text, of, window: windowAt(bucket) }),
      }),
    };
  }, [buckets, stats, text, of, measure, groups, hrefTo]);
  const outcomes = useOutcomeColumns(question);
  const pointing = { hovered, onHover: setHovered };
  const isGrouped = groups.length > 0;
  return (
    <>
      <UsageChart
        {...{ stats, buckets, zone, measure, asLines, ...pointing }}
        hrefOf={links.part}
        onZoom={(window) => change({ window: printWindow(window) })}
      />
      {isGrouped && (
        <Segments
          label="Rows"
          all={{ "": `By ${groups.map(nameOfGroup).join(" · ")}`, time: "Over time" }}
          chosen={isOverTime ? "time" : ""}
          onChoose={(rows) => change({ rows })}
        />
      )}
      <NoneHint loaded={loaded} byTrace={hrefTo("usage", { of: "" })} />
      <UsageTable
        {...{ loaded, buckets, ...pointing }}
        isOverTime={isOverTime || !isGrouped}
        more={isOverTime ? more : [...outcomes, ...more]}
        linksOf={links.group}
        linksAt={links.bucket}
        all={tracesOf(hrefTo, { text, of })}
      />
    </>
  );
}
