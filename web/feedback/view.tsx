import { useState } from "preact/hooks";
import { asCurl } from "../api/ask.ts";
import { useLoad } from "../api/use-load.ts";
import { tokens } from "../numbers/figure.ts";
import { span } from "../numbers/instants.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Shown } from "../parts/figure.tsx";
import { NothingHere } from "../parts/nothing-here.tsx";
import { LoadState, Notice } from "../parts/notice.tsx";
import type { Address } from "../state/address.ts";
import { useWindow } from "../state/use-window.ts";
import type { Go } from "../state/use-address.ts";
import { loadFeedback, statsQuestion } from "./load-feedback.ts";
import { PathCard } from "./path-card.tsx";
import { PathDetails } from "./path-details.tsx";
import "../style/charts.css";

interface FeedbackViewProps {
  readonly address: Address;
  readonly project: string;
  readonly zone: string;
  readonly go: Go;
}

export function FeedbackView({ address, project, zone, go }: FeedbackViewProps) {
  const { options } = address;
  const [round, setRound] = useState(0);
  const { window } = useWindow(address, zone, round);
  const question = { project, window, zone };
  const load = useLoad(
    JSON.stringify(question),
    (asking) => loadFeedback(question, asking),
    `feedback ${project}`,
  );
  const refresh = (): void => {
    setRound(round + 1);
    load.again();
  };
  const loaded = load.value;
  const count = loaded?.counts.reduce((sum, one) => sum + one, 0) ?? 0;
  const chosen = loaded?.paths.find(({ path }) => path.json_path === options["path"]) ?? loaded?.paths[0];
  return (
    <main class="feedback-view" aria-busy={load.busy}>
      <h1 class="unseen">Feedback</h1>
      <div class="summary">
        <p class="answer">
          {loaded !== undefined && (
            <>
              <span class="sum">
                <Shown figure={tokens(count)} />
              </span>
              <span>{count === 1 ? "feedback" : "feedbacks"}</span>
              <span class="dim">
                {span(window.fromMs, window.toMs ?? Date.now(), zone)}, {zone}
              </span>
            </>
          )}
        </p>
        <div class="tools">
          <button onClick={refresh}>Refresh</button>
          {loaded !== undefined && (
            <CopyButton
              label="copy curl"
              title="The question behind this view"
              text={() =>
                asCurl(
                  statsQuestion(
                    question,
                    loaded.paths.map(({ path }) => path),
                  ),
                )
              }
            />
          )}
        </div>
      </div>
      <LoadState load={load} />
      {loaded !== undefined && loaded.more > 0 && (
        <Notice kind="warning" title={`${loaded.more} more paths were found than are shown.`} />
      )}
      {loaded !== undefined && count === 0 && (
        <NothingHere {...{ project, options, go }} what="There is no feedback in this window." />
      )}
      {loaded !== undefined && chosen !== undefined && count > 0 && (
        <div class="paths">
          <ul class="cards" aria-label="Paths">
            {loaded.paths.map((stats) => (
              <PathCard
                key={stats.path.json_path}
                {...{ stats, zone }}
                times={loaded.times}
                endMs={loaded.endMs}
                chosen={stats === chosen}
                onChoose={() => go({ options: { ...options, path: stats.path.json_path } })}
              />
            ))}
          </ul>
          <PathDetails key={chosen.path.json_path} stats={chosen} {...{ loaded, project, zone, window }} />
        </div>
      )}
    </main>
  );
}
