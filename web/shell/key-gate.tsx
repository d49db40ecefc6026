import { useState } from "preact/hooks";
import { Notice } from "../parts/notice.tsx";

interface KeyGateProps {
  readonly onKey: (key: string) => void;
  /** The service refused the last key. */
  readonly refused: boolean;
}

export function KeyGate({ onKey, refused }: KeyGateProps) {
  const [key, setKey] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (key.trim() !== "") onKey(key.trim());
  };
  return (
    <main class="gate">
      <h1>Sumtree</h1>
      <p>What every call of your LLM application used and cost.</p>
      {refused && (
        <Notice kind="error" title="This key is not valid, or no longer.">
          It may have been revoked, or have expired. What you were looking at comes back with a key that may
          read it.
        </Notice>
      )}
      <form onSubmit={submit}>
        <label>
          API key
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            placeholder="st_…"
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Look</button>
      </form>
      <p class="dim">
        It stays in this tab and goes with it. A key with the scope <code>read</code> is enough:{" "}
        <code>npm run keys -- create --name me --scope read --project acme/app</code>
      </p>
    </main>
  );
}
