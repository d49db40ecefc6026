import { useState } from "preact/hooks";
import { oneLine } from "../numbers/plain-text.ts";
import { CHIP_OPS, FIELDS, operandOf, printFilter, typedValue, type ChipOp, type Filter } from "./filters.ts";

interface FilterBarProps {
  readonly filter: Filter;
  /** As it stands in the address. */
  readonly onFilter: (q: string) => void;
}

/** The conditions as chips, or as the query that they make. */
export function FilterBar({ filter, onFilter }: FilterBarProps) {
  const [editing, setEditing] = useState(filter.kind !== "chips");
  const chips = filter.kind === "chips" ? filter.chips : undefined;
  const [adding, setAdding] = useState(false);
  return (
    <div class="filters">
      {chips?.map((chip, at) => (
        <span key={at} class="chip">
          <bdi>{oneLine(chip.field, 40)}</bdi> {chip.op} <bdi>{oneLine(String(chip.value), 60)}</bdi>
          <button
            class="quiet"
            aria-label={`Remove the filter on ${oneLine(chip.field, 40)}`}
            onClick={() => onFilter(printFilter({ kind: "chips", chips: chips.toSpliced(at, 1) }))}
          >
            ×
          </button>
        </span>
      ))}
      {chips === undefined && <span class="chip">a query of your own</span>}
      {chips !== undefined && !adding && (
        <button class="quiet" onClick={() => setAdding(true)}>
          + filter
        </button>
      )}
      {chips !== undefined && adding && (
        <NewChip
          onCancel={() => setAdding(false)}
          onAdd={(chip) => {
            setAdding(false);
            onFilter(printFilter({ kind: "chips", chips: [...chips, chip] }));
          }}
        />
      )}
      <button class="quiet" aria-expanded={editing} onClick={() => setEditing(!editing)}>
        {"{ } query"}
      </button>
      {editing && <QueryEditor key={printFilter(filter)} filter={filter} onFilter={onFilter} />}
    </div>
  );
}

interface NewChipProps {
  readonly onAdd: (chip: { field: string; op: ChipOp; value: string | number | boolean | null }) => void;
  readonly onCancel: () => void;
}

function NewChip({ onAdd, onCancel }: NewChipProps) {
  const [field, setField] = useState("op_name");
  const [op, setOp] = useState<ChipOp>("=");
  const [value, setValue] = useState("");
  return (
    <form
      class="new-chip"
      onSubmit={(event) => {
        event.preventDefault();
        onAdd({ field, op, value: typedValue(field, value) });
      }}
      onKeyDown={(event) => event.key === "Escape" && onCancel()}
    >
      <input
        aria-label="Field"
        list="fields"
        value={field}
        onInput={(event) => setField(event.currentTarget.value)}
      />
      <datalist id="fields">
        {FIELDS.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <select
        aria-label="Comparison"
        value={op}
        onChange={(event) => setOp(event.currentTarget.value as ChipOp)}
      >
        {CHIP_OPS.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <input
        aria-label="Value"
        placeholder="value"
        ref={(input) => {
          if (input !== null && document.activeElement?.closest(".new-chip") === null) input.focus();
        }}
        value={value}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      <button type="submit">Add</button>
      <button type="button" class="quiet" onClick={onCancel}>
        Cancel
      </button>
    </form>
  );
}

function QueryEditor({ filter, onFilter }: FilterBarProps) {
  const operand = operandOf(filter);
  const asked =
    filter.kind === "unreadable" ? filter.text : JSON.stringify({ $expr: operand ?? {} }, null, 2);
  const [text, setText] = useState(asked);
  const [fault, setFault] = useState(filter.kind === "unreadable" ? "This is no JSON." : undefined);
  const apply = (event: Event): void => {
    event.preventDefault();
    try {
      const query = JSON.parse(text) as { $expr?: unknown };
      const inner = query.$expr ?? query;
      setFault(undefined);
      onFilter(Object.keys(inner).length === 0 ? "" : JSON.stringify(inner));
    } catch (error) {
      setFault(`This is no JSON: ${(error as Error).message}`);
    }
  };
  return (
    <form class="query" onSubmit={apply}>
      <textarea
        aria-label="Query"
        rows={6}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div>
        <button type="submit">Apply</button> {fault !== undefined && <span class="failed">{fault}</span>}
        <span class="dim"> The window is added to it. Fields and operators: docs/query-language.md.</span>
      </div>
    </form>
  );
}
