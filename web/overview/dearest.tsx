import { shortName } from "../format/op-name.ts";
import { oneLine } from "../format/plain-text.ts";
import { Cost } from "../components/figure.tsx";
import { labelOf } from "../state/groups.ts";
import { Item } from "./item.tsx";
import type { Overview } from "./load-overview.ts";

interface DearestProps {
  readonly overview: Overview;
  readonly allHref: string;
  readonly traceHref: (traceId: string) => string;
}

/** The traces that cost most, whose they are, and what in them cost most. */
export function Dearest({ overview: { dearest, dearestParts }, allHref, traceHref }: DearestProps) {
  if (dearest.length === 0) return null;
  return (
    <section>
      <h2>
        <a href={allHref}>Dearest traces</a>
      </h2>
      <ol className="attention">
        {dearest.map((row, at) => {
          const { trace_id: id, root } = row;
          const part = dearestParts.get(id);
          const { trace_id: _, ...key } = part?.key ?? {};
          return (
            <Item key={id} sign={at + 1} kind="dim" href={traceHref(id)} link={<Cost total={row} />}>
              <bdi>{root === null ? oneLine(id, 60) : shortName(root.op_name ?? "", root.display_name)}</bdi>{" "}
              <span className="dim">
                <bdi>{oneLine(root?.svc_user_id ?? "(no user)", 40)}</bdi>
                {part !== undefined && (
                  <>
                    , most by <bdi>{oneLine(labelOf(key), 80)}</bdi>: <Cost total={part.total} />
                  </>
                )}
              </span>
            </Item>
          );
        })}
      </ol>
    </section>
  );
}
