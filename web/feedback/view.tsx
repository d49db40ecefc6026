import { useState } from "react";
import { asCurl } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { counted, formatCount } from "../format/figure.ts";
import { formatInterval } from "../format/instants.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { FormattedValue } from "../components/figure.tsx";
import { NothingHere } from "../components/nothing-here.tsx";
import { LoadState, Notice } from "../components/notice.tsx";
import { useWindow } from "../state/use-window.ts";
import { useHrefTo, type ViewProps } from "../state/use-address.ts";
import { loadFeedback, statsQuestion } from "./load-feedback.ts";
import { PathCard } from "./path-card.tsx";
import { PathDetails } from "./path-details.tsx";
import "../style/charts.css";

export function FeedbackView({ address, project, zone, go }: ViewProps) {
  const { options } = address;
  const [round, setRound] = useState(0);
  const { window } = useWindow(address, zone, round);
  const question = { project, window, zone };
  const load = useQuery(
    JSON.stringify(question),
    (asking) => loadFeedback(question, asking),
    `feedback ${project}`,
  );
  const hrefTo = useHrefTo(address);
  const refresh = (): void => {
    setRound(round + 1);
    load.refetch();
  };
  const loaded = load.value;
  const count = loaded?.counts.reduce((sum, one) => sum + one, 0) ?? 0;
  const paths = loaded?.paths.map(({ path }) => path) ?? [];
  const chosen = loaded?.paths.find(({ path }) => path.json_path === options["path"]) ?? loaded?.paths[0];
  return (
    <main className="feedback-view" aria-busy={load.busy}>
      <h1 className="unseen">Feedback</h1>
      <div className="summary">
        <p className="answer">
          {loaded !== undefined && (
            <>
              <span className="sum">
                <FormattedValue figure={formatCount(count)} />
              </span>{" "}
              <span>{count === 1 ? "feedback" : "feedbacks"}</span>
            </>
          )}
          <span className="dim">
            {formatInterval(window.fromMs, window.toMs ?? Date.now(), zone)}, {zone}
          </span>
        </p>
        <div className="tools">
          <button onClick={refresh}>Refresh</button>
          {loaded !== undefined && (
            <CopyButton
              label="Copy as cURL"
              title="The question behind this view"
              text={() => asCurl(statsQuestion(question, paths))}
            />
          )}
        </div>
      </div>
      <LoadState load={load} />
      {loaded !== undefined && loaded.more > 0 && (
        <Notice kind="warning" title={`${counted(loaded.more, "path")} more than are shown.`} />
      )}
      {loaded !== undefined && count === 0 && (
        <NothingHere {...{ project, options, go }} what="There is no feedback in this window." />
      )}
      {loaded !== undefined && chosen !== undefined && count > 0 && (
        <div className="paths">
          <ul className="cards" aria-label="Paths">
            {loaded.paths.map((stats) => (
              <PathCard
                key={stats.path.json_path}
                {...{ stats }}
                buckets={loaded.buckets}
                chosen={stats === chosen}
                href={hrefTo("feedback", { path: stats.path.json_path })}
              />
            ))}
          </ul>
          <PathDetails
            key={chosen.path.json_path}
            stats={chosen}
            {...{ loaded, question, hrefTo }}
            by={options["by"]}
          />
        </div>
      )}
    </main>
  );
}
