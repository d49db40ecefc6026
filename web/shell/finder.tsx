import { useMemo, useRef } from "react";
import { postJson } from "../api/client.ts";
import type { UsageStats, Whoami } from "../api/routes.ts";
import { useQuery, type QueryState } from "../api/use-query.ts";
import { counted } from "../format/figure.ts";
import { shortName } from "../format/op-name.ts";
import type { Choice } from "../components/choices.tsx";
import { Dialog } from "../components/dialog.tsx";
import { printCondition } from "../state/search.ts";
import type { UrlState, View } from "../state/url-state.ts";
import { readWindow } from "../state/time-range.ts";
import type { Go } from "../state/use-address.ts";
import { Choices } from "../components/lazy-choices.ts";
import { sharedOptions } from "./shared-options.ts";

interface FinderProps {
  readonly me: Whoami;
  readonly project: string;
  readonly zone: string;
  readonly address: UrlState;
  readonly go: Go;
  readonly help: () => void;
  readonly signOut: () => void;
  readonly onClose: () => void;
}

type Found = Choice & { readonly act: () => void };
const MAX_NAMES = 200;
const WEEK_MS = 7 * 86_400_000;
const ONE_BUCKET = 3_155_760_000;
const VIEWS: readonly (readonly [View, string])[] = [
  ["overview", "Overview"],
  ["traces", "Traces"],
  ["usage", "Usage"],
  ["feedback", "Feedback"],
  ["settings", "Settings"],
];
const NAMED = { llm: "model", svc_user_id: "user", op_name: "op" } as const;

/** Finds trace ids, models, users, operations, views and actions. */
export function Finder({ me, project, zone, address, go, help, signOut, onClose }: FinderProps) {
  const names = useNames(project, zone, address);
  const typed = useRef("");
  const options = sharedOptions(address.options);
  const places = useMemo((): readonly Found[] => {
    const to =
      (view: View, more: UrlState["options"] = {}) =>
      (): void =>
        go({ project, view, traceId: undefined, options: { ...options, ...more } });
    const groups = (names.value ?? []).flatMap(({ key, total }): Found[] => {
      const [group, value] = Object.entries(key)[0] ?? [];
      if (group === undefined || typeof value !== "string" || value === "") return [];
      const field = NAMED[group as keyof typeof NAMED];
      const label = group === "op_name" ? shortName(value, null) : value;
      const hint = `${field === "op" ? "operation" : field}, ${counted(total.calls, "call")}`;
      const q = printCondition({ field, op: ":", value, isNot: false });
      return [{ value: `${group} ${value}`, label, hint, act: to("traces", { q }) }];
    });
    return [
      ...VIEWS.map(([view, label]) => ({ value: `view ${view}`, label, hint: "view", act: to(view) })),
      ...(me.projects_with_data ?? []).map((name) => ({
        value: `project ${name}`,
        label: name,
        hint: "project",
        act: () =>
          go({
            project: name,
            view: "overview",
            traceId: undefined,
            options: { ...options, q: "", calls: "" },
          }),
      })),
      ...groups,
      { value: "keys", label: "Show the keys", hint: "action", act: help },
      { value: "out", label: "Sign out", hint: "action", act: signOut },
    ];
  }, [names.value, address]);
  const found = (text: string): readonly Found[] => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = places.filter(({ label, hint = "" }) =>
      words.every((word) => `${label} ${hint}`.toLowerCase().includes(word)),
    );
    if (text.trim() === "") return fitting;
    const id = text.trim();
    return [
      ...fitting,
      {
        value: "trace",
        label: id,
        hint: "open the trace with this id",
        act: () => go({ project, view: "trace", traceId: id, options }),
      },
      {
        value: "search",
        label: id,
        hint: "search in traces",
        act: () => go({ project, view: "traces", traceId: undefined, options: { ...options, q: id } }),
      },
    ];
  };
  return (
    <Dialog label="Find" className="finder" onClose={onClose}>
      <Choices
        label="Find"
        placeholder="A trace id, a model, a user, an operation, a view …"
        found={(text) => {
          typed.current = text;
          return found(text);
        }}
        none={(text) => `Nothing is called “${text}”.`}
        onChoose={(value) => {
          onClose();
          found(typed.current)
            .find((one) => one.value === value)
            ?.act();
        }}
      />
    </Dialog>
  );
}

/** Models, users and operations of the range. */
function useNames(project: string, zone: string, address: UrlState): QueryState<UsageStats["groups"]> {
  const range = address.options["window"];
  return useQuery(JSON.stringify(["names", project, range, zone]), async (asking) => {
    const window = readWindow(range, { now: Date.now(), zone });
    const answers = await Promise.all(
      (Object.keys(NAMED) as (keyof typeof NAMED)[]).map((group) => {
        const body = {
          project_id: project,
          start: new Date(window?.fromMs ?? Date.now() - WEEK_MS).toISOString(),
          ...(window?.toMs !== undefined && { end: new Date(window.toMs).toISOString() }),
          granularity: ONE_BUCKET,
          group_by: [group],
          order_by: "calls",
          limit: MAX_NAMES,
        };
        return postJson({ path: "/usage/stats", body }, asking);
      }),
    );
    return answers.flatMap(({ body }) => body.groups);
  });
}
