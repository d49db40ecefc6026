import { formatChange } from "../format/figure.ts";

interface ChangeProps {
  /** Undefined: there was nothing; null: it is not known how much it was. */
  readonly before: number | null | undefined;
  readonly now: number | null;
  /** Either leaves something out. */
  readonly isPartial?: boolean;
}

/** By how much a number changed; nothing where that is not known. */
export function Change({ before, now, isPartial = false }: ChangeProps) {
  if (before === undefined) return <>new</>;
  if (before === null || now === null) return null;
  const figure = formatChange(before, now);
  if (figure === undefined) return now > 0 ? <>new</> : null;
  return (
    <span title={isPartial ? `${figure.exact} of what has a price` : figure.exact}>
      {isPartial && "≈ "}
      {figure.text}
    </span>
  );
}
