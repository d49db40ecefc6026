import { useState } from "react";
import { notOfAKey } from "../api/key.ts";
import { visible } from "../format/plain-text.ts";
import { Notice } from "../components/notice.tsx";

interface KeyGateProps {
  readonly onKey: (key: string, onDevice: boolean) => void;
  /** The service refused the last key. */
  readonly refused: boolean;
}

export function SignIn({ onKey, refused }: KeyGateProps) {
  const [text, setText] = useState("");
  const [onDevice, setOnDevice] = useState(false);
  const key = text.trim();
  const wrong = notOfAKey(key);
  return (
    <main className="gate">
      <h1>
        <span className="logo" aria-hidden="true" /> Sumtree
      </h1>
      <p>What every call of your LLM application used and cost.</p>
      {refused && (
        <Notice kind="error" title="This key is not valid, or no longer.">
          It may have been revoked, or have expired. What you were looking at comes back with a key that may
          read it.
        </Notice>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (key !== "" && wrong === undefined) onKey(key, onDevice);
        }}
      >
        <label>
          API key
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder="st_…"
            value={text}
            aria-invalid={wrong !== undefined}
            aria-describedby="key-fault"
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" className="main" disabled={wrong !== undefined}>
          Sign in
        </button>
        <p id="key-fault" className="failed" role="alert" hidden={wrong === undefined}>
          {wrong !== undefined && `“${visible(wrong)}” cannot be part of a key. Was something else copied?`}
        </p>
        <label className="check">
          <input
            type="checkbox"
            checked={onDevice}
            onChange={(event) => setOnDevice(event.currentTarget.checked)}
          />
          Keep on this device
        </label>
      </form>
      <p className="dim">
        Otherwise it is kept for the session, in the tabs of this page. The scope <code>read</code> is enough:{" "}
        <code>npm run keys -- create --name me --scope read --project acme/app</code>
      </p>
    </main>
  );
}
