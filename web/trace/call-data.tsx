import { useState } from "react";
import type { Call } from "../api/routes.ts";
import { JsonTree } from "../components/json-tree.tsx";
import { LongText } from "../components/long-text.tsx";

const MEMBERS = [
  ["Input", "inputs"],
  ["Output", "output"],
  ["Attributes", "attributes"],
  ["Summary", "summary"],
] as const;

/** Everything that was recorded of a call, as trees with a search. */
export function CallData({ call }: { readonly call: Call }) {
  const [find, setFind] = useState("");
  return (
    <div className="call-data">
      <input
        type="search"
        aria-label="Find in the data"
        placeholder="Find in the data"
        value={find}
        onChange={(event) => setFind(event.currentTarget.value)}
      />
      {MEMBERS.map(([label, member]) => {
        const value: unknown = call[member];
        if (value == null || (typeof value === "object" && Object.keys(value).length === 0))
          return (
            <p key={member} className="dim">
              There is no {label.toLowerCase()}.
            </p>
          );
        if (typeof value === "string" && find === "")
          return (
            <div key={member}>
              <h3>{label}</h3>
              <LongText label={label.toLowerCase()} text={value} />
            </div>
          );
        return <JsonTree key={member} {...{ label, value, find }} />;
      })}
    </div>
  );
}
