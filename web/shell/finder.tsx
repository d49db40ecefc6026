import { postJson } from "../api/client.ts";
import type { UsageStats, Whoami } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { counted } from "../format/figure.ts";
import { shortName } from "../format/op-name.ts";
import type { Choice } from "../components/choices.tsx";
import { Choices } from "../components/lazy-choices.ts";
import { Dialog } from "../components/dialog.tsx";
import { printCondition } from "../state/search.ts";
import { printAddress, sharedOptions, VIEW_NAMES, type UrlState, type View } from "../state/url-state.ts";
import { ONE_BUCKET, type TimeRange } from "../state/time-range.ts";
import { placeOf } from "../traces/traces-question.ts";

interface FinderProps {
  readonly me: Whoami;
  readonly project: string;
  readonly window: TimeRange;
  readonly address: UrlState;
  readonly showKeys: () => void;
  readonly signOut: () => void;
  readonly onClose: () => void;
}

const MAX_NAMES = 200;
const FIELDS = { llm: "model", svc_user_id: "user", op_name: "op" } as const;
const ACTIONS = { "#keys": "Show the keys", "#out": "Sign out" } as const;

/** Finds trace ids, models, users, operations, views and actions. */
export function Finder({ me, project, window, address, showKeys, signOut, onClose }: FinderProps) {
  const names = useQuery(JSON.stringify(["names", project, address.options]), async (asking) => {
    const place = { ...placeOf({ project, window }), granularity: ONE_BUCKET, limit: MAX_NAMES };
    const answers = Object.keys(FIELDS).map((group) => {
      const body = { ...place, group_by: [group as keyof typeof FIELDS], order_by: "calls" as const };
      return postJson({ path: "/usage/stats", body }, asking);
    });
    return (await Promise.all(answers)).flatMap(({ body }) => body.groups);
  });
  const to = (place: Partial<UrlState>, more?: UrlState["options"]): string => {
    const options = { ...sharedOptions(address.options), ...more };
    return printAddress({ project, view: "traces", traceId: undefined, ...place, options });
  };
  const places: readonly Required<Choice>[] = [
    ...Object.entries(VIEW_NAMES).map(([view, label]) => ({
      value: to({ view: view as View }),
      label,
      hint: "view",
    })),
    ...(me.projects_with_data ?? [])
      .filter((name) => name !== project)
      .map((label) => ({
        value: to({ project: label, view: "overview" }, { q: "" }),
        label,
        hint: "project",
      })),
    ...(names.value ?? []).flatMap((group) => choiceOf(group, (q) => to({}, { q }))),
    ...Object.entries(ACTIONS).map(([value, label]) => ({ value, label, hint: "action" })),
  ];
  const found = (text: string): readonly Required<Choice>[] => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = places.filter(({ label, hint }) =>
      words.every((word) => `${label} ${hint}`.toLowerCase().includes(word)),
    );
    const label = text.trim();
    if (label === "") return fitting;
    return [
      ...fitting,
      { value: to({ view: "trace", traceId: label }), label, hint: "open the trace with this id" },
      { value: to({}, { q: label }), label, hint: "search in traces" },
    ];
  };
  return (
    <Dialog label="Find" className="finder" onClose={onClose}>
      <Choices
        label="Find"
        placeholder="A trace id, a model, a user, an operation, a view …"
        // several can lead to one address
        found={(text) => found(text).map((one) => ({ ...one, value: `${one.hint} ${one.value}` }))}
        none={(text) => `Nothing is called “${text}”.`}
        onChoose={(value) => {
          onClose();
          const hash = value.slice(value.indexOf("#"));
          if (hash === "#keys") showKeys();
          else if (hash === "#out") signOut();
          else location.hash = hash;
        }}
      />
    </Dialog>
  );
}

/** The traces with a model, user or operation. */
function choiceOf(
  { key, total }: UsageStats["groups"][number],
  to: (search: string) => string,
): readonly Required<Choice>[] {
  const [group, value] = Object.entries(key)[0] ?? [];
  if (typeof value !== "string" || value === "") return [];
  const field = FIELDS[group as keyof typeof FIELDS];
  return [
    {
      value: to(printCondition({ field, op: ":", value, isNot: false })),
      label: field === "op" ? shortName(value, null) : value,
      hint: `${field === "op" ? "operation" : field}, ${counted(total.calls, "call")}`,
    },
  ];
}
