interface SelectProps {
  readonly name: string;
  readonly label: string;
  /** Labels by value. */
  readonly all: Readonly<Record<string, string>>;
  readonly chosen: string;
}

/** An input of a form that takes one of some values. */
export function Select({ name, label, all, chosen }: SelectProps) {
  return (
    <label>
      {label}
      <select name={name} defaultValue={chosen}>
        {Object.entries(all).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
