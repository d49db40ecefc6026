import type { ReactNode } from "react";
import type { TrainingJob, UsageTotal } from "../api/routes.ts";
import { Cost, FormattedValue, Unknown } from "../components/figure.tsx";
import { Table, type Column } from "../components/table.tsx";
import { formatCount, formatPercent } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { printCondition } from "../state/search.ts";
import type { HrefTo } from "../state/url-state.ts";

interface ModelTableProps {
  readonly job: TrainingJob;
  readonly models: ReadonlyMap<string, UsageTotal>;
  readonly hrefTo: HrefTo;
}

interface ModelRow {
  readonly llm: string;
  readonly name: string;
  readonly total: UsageTotal | undefined;
}

/** The model that a job began with, and each checkpoint: how they were rated, and what they cost. */
export function ModelTable({ job, models, hrefTo }: ModelTableProps) {
  const { base_model: base, checkpoints } = job;
  const named = [
    ...(base === null ? [] : [{ llm: base, name: "base model" }]),
    ...checkpoints.flatMap(({ step, llm }) => (llm === null ? [] : [{ llm, name: `step ${step}` }])),
  ];
  const rows = named.map((one): ModelRow => ({ ...one, total: models.get(one.llm) }));
  const columns: readonly Column<ModelRow>[] = [
    {
      name: "model",
      cell: ({ llm, name }) => (
        <>
          <a
            href={hrefTo("traces", {
              q: printCondition({ field: "model", op: ":", value: llm, isNot: false }),
            })}
          >
            {name}
          </a>{" "}
          <small className="dim">
            <bdi>{oneLine(llm, 90)}</bdi>
          </small>
        </>
      ),
    },
    number("calls", ({ calls }) => <FormattedValue figure={formatCount(calls)} />),
    number("rated", ({ rated }) => <FormattedValue figure={formatCount(rated ?? 0)} />),
    number("passed", ({ rated = 0, passed = 0 }) =>
      rated === 0 ? (
        <Unknown why="none of its calls is rated" />
      ) : (
        <FormattedValue figure={formatPercent(passed / rated)} />
      ),
    ),
    number("cost", (total) => <Cost total={total} />),
    number("$ per passed", ({ cost_per_passed: cost = null }) =>
      cost === null ? (
        <Unknown why="none passed, or no price is known" />
      ) : (
        <Cost total={{ total_cost: cost }} />
      ),
    ),
  ];
  return (
    <Table
      className="plain"
      label="Checkpoints beside the base model"
      none="No checkpoint yet."
      {...{ columns, rows }}
    />
  );
}

function number(name: string, cell: (total: UsageTotal) => ReactNode): Column<ModelRow> {
  return {
    name,
    kind: "number",
    cell: ({ total }) => (total === undefined ? <Unknown why="not used in this range" /> : cell(total)),
  };
}
