import { useState } from "react";
import { FormDialog, type Fields } from "../components/form-dialog.tsx";
import { Dialog } from "../components/dialog.tsx";
import { save } from "../components/download-button.tsx";
import { Select } from "../components/select.tsx";
import { useSuggestedRating } from "../components/use-rating.ts";
import { counted, formatCount } from "../format/figure.ts";
import { csvNameOf } from "../format/csv.ts";
import { RATING_PATTERN } from "../state/rating.ts";
import { makeDataset, MAX_TRACES, type MadeDataset } from "./make-dataset.ts";
import type { TracesQuestion } from "./traces-question.ts";

interface DatasetFormProps {
  readonly question: TracesQuestion;
  readonly zone: string;
  readonly onMade: (made: MadeDataset) => void;
  readonly onClose: () => void;
}

const FORMATS = {
  chat: "Chat: messages and the answer",
  preference: "Preference: a chosen and a rejected answer",
  trajectories: "Trajectories: messages and a reward",
};
const ONLY = {
  "": "Every chat call",
  last_of_thread: "The last of each thread",
  leaves: "Calls without children",
  roots: "Roots",
};

/** Asks how a dataset is made of the listed traces, and saves it. */
export function DatasetForm({ question, zone, onMade, onClose }: DatasetFormProps) {
  const [fields, setFields] = useState<Fields>({});
  const suggested = useSuggestedRating(question.project, question.window);
  const needsRating = fields["format"] !== undefined && fields["format"] !== "chat";
  return (
    <FormDialog
      title="Make a dataset of these"
      submit="Download"
      onInput={setFields}
      act={async (typed) => {
        const done = await makeDataset(question, typed, { signal: new AbortController().signal });
        const name = csvNameOf(`dataset ${typed["format"]}`, question, zone).replace(/csv$/, "jsonl");
        save(name, done.data);
        onMade(done);
      }}
      onDone={() => undefined}
      onClose={onClose}
    >
      <Select name="format" label="Format" all={FORMATS} chosen="chat" />
      <label>
        {fields["format"] === "preference" ? "Chosen if" : "Answers that"}
        <input
          name="rating"
          required={needsRating}
          pattern={RATING_PATTERN}
          placeholder={suggested ?? "score >= 0.5"}
          title="A path of the feedback, an operator and a value: score >= 0.5"
        />
        <span className="dim">
          {suggested === undefined
            ? "by their latest feedback"
            : `by their latest feedback, such as ${suggested}`}
        </span>
      </label>
      <Select name="only" label="Calls" all={ONLY} chosen="" />
      <div className="four">
        <label>
          Hold out, in percent
          <input name="holdout" type="number" min={0} max={99} defaultValue={0} />
        </label>
      </div>
      <label className="check">
        <input type="checkbox" name="dedupe" /> Leave out repeated examples
      </label>
      <p className="dim">Of at most {formatCount(MAX_TRACES).text} traces, in the order of the list.</p>
    </FormDialog>
  );
}

interface DatasetMadeProps {
  readonly made: MadeDataset;
  readonly onClose: () => void;
}

/** The counts of a dataset that was saved. */
export function DatasetMade({ made, onClose }: DatasetMadeProps) {
  const { manifest, tracesLeft } = made;
  return (
    <Dialog label="Dataset" onClose={onClose}>
      <h2>{manifest === undefined ? "Downloaded" : counted(manifest.lines, "example")}</h2>
      {manifest !== undefined && (
        <>
          <ul>
            <li>{counted(manifest.counts.exported, "call")} exported</li>
            {manifest.counts.held_out > 0 && <li>{counted(manifest.counts.held_out, "call")} held out</li>}
            {Object.entries(manifest.counts.left_out).map(([reason, count]) => (
              <li key={reason}>
                {counted(count, "call")} left out: {reason.replaceAll("_", " ")}
              </li>
            ))}
          </ul>
          <p>
            Export <code>{manifest.id}</code>: name it in <code>x-sumtree-export-id</code> when you create the
            job.
          </p>
        </>
      )}
      {tracesLeft > 0 && <p className="failed">{counted(tracesLeft, "trace")} of the list are not in it.</p>}
      <div className="tools">
        <button className="main" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
