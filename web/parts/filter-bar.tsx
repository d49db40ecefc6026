import { useState } from "preact/hooks";
import { oneLine } from "../numbers/plain-text.ts";
import {
  CHIP_OPS,
  FIELDS,
  operandOf,
  printFilter,
  typedValue,
  type ChipOp,
  type Filter,
} from "../state/filters.ts";

interface FilterBarProps {
  readonly filter: Filter;
  /** As in the address. */
  readonly onFilter: (q: string) => void;
  /** A condition on the cost of rows, if they have one. It is no field of calls, so it is not part of the query. */
  readonly cost?: CostChip;
}

export interface CostChip {
  /** `≥0.1`; undefined: there is none. */
  readonly chip: string | undefined;
  /** Whether a text is a condition on the cost. */
  readonly read: (text: string) => boolean;
  readonly onChange: (text: string) => void;
}

const COST = "cost";

/** The conditions as chips, or as a query. */
export function FilterBar({ filter, onFilter, cost }: FilterBarProps) {
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
      {cost?.chip !== undefined && (
        <span class="chip">
          cost {cost.chip.replace(/^./u, "$& $$")}
          <button class="quiet" aria-label="Remove the filter on the cost" onClick={() => cost.onChange("")}>
            ×
          </button>
        </span>
      )}
      {!adding && (chips !== undefined || cost !== undefined) && (
        <button class="quiet" onClick={() => setAdding(true)}>
          + filter
        </button>
      )}
      {adding && (
        <NewChip
          fields={[...(cost === undefined ? [] : [COST]), ...(chips === undefined ? [] : FIELDS)]}
          onCancel={() => setAdding(false)}
          onAdd={(chip) => {
            const condition = `${chip.op}${chip.value}`;
            if (chip.field === COST && cost?.read(condition) !== true) return false;
            setAdding(false);
            if (chip.field === COST) cost?.onChange(condition);
            else if (chips !== undefined) onFilter(printFilter({ kind: "chips", chips: [...chips, chip] }));
            return true;
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
  readonly fields: readonly string[];
  /** False: not a valid condition. */
  readonly onAdd: (chip: { field: string; op: ChipOp; value: string | number | boolean | null }) => boolean;
  readonly onCancel: () => void;
}

function NewChip({ fields, onAdd, onCancel }: NewChipProps) {
  const [field, setField] = useState(fields.includes("op_name") ? "op_name" : (fields[0] ?? ""));
  const [wrong, setWrong] = useState(false);
  const [op, setOp] = useState<ChipOp>("=");
  const [value, setValue] = useState("");
  return (
    <form
      class="new-chip"
      onSubmit={(event) => {
        event.preventDefault();
        setWrong(!onAdd({ field, op, value: typedValue(field, value) }));
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
        {fields.map((name) => (
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
      {wrong && (
        <span class="failed">A condition on the cost needs a comparison and a number of dollars.</span>
      )}
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
  const [fault, setFault] = useState(filter.kind === "unreadable" ? "This is not JSON." : undefined);
  const apply = (event: Event): void => {
    event.preventDefault();
    try {
      const query = JSON.parse(text) as { $expr?: unknown };
      const inner = query.$expr ?? query;
      setFault(undefined);
      onFilter(Object.keys(inner).length === 0 ? "" : JSON.stringify(inner));
    } catch (error) {
      setFault(`This is not JSON: ${(error as Error).message}`);
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
