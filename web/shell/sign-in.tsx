import { useState } from "react";
import { faultOfKey } from "../api/key.ts";
import { Notice } from "../components/notice.tsx";

interface SignInProps {
  readonly onKey: (key: string, onDevice: boolean) => void;
  /** The service refused the last key. */
  readonly refused: boolean;
  /** Key of the opening link. */
  readonly offered: string | undefined;
}

export function SignIn({ onKey, refused, offered = "" }: SignInProps) {
  const [text, setText] = useState(offered);
  const [onDevice, setOnDevice] = useState(false);
  const key = text.trim();
  const fault = faultOfKey(key);
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
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (key !== "" && fault === undefined) onKey(key, onDevice);
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
            aria-invalid={fault !== undefined}
            aria-describedby="key-fault"
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <p id="key-fault" className="failed" role="alert" hidden={fault === undefined}>
          {text === offered && "The key of the link cannot be one. "}
          {fault}
        </p>
        <label className="check">
          <input
            type="checkbox"
            checked={onDevice}
            onChange={(event) => setOnDevice(event.currentTarget.checked)}
          />
          Keep on this device
        </label>
        <div className="tools">
          <button type="submit" className="main" disabled={fault !== undefined}>
            Sign in
          </button>
        </div>
      </form>
      <p className="dim">
        Otherwise it is kept for the session, in the tabs of this page. The scope <code>read</code> is enough:{" "}
        <code>npm run keys -- create --name me --scope read --project acme/app</code>
      </p>
    </main>
  );
}
