import { useEffect, useState } from "preact/hooks";
import { get, KEY_REFUSED } from "./api/ask.ts";
import { forgetKey, keepKey, keptKey, takeHandedKey } from "./api/key.ts";
import type { Whoami } from "./api/routes.ts";
import { useLoad } from "./api/use-load.ts";
import { KeyGate } from "./shell/key-gate.tsx";
import { LoadState } from "./parts/notice.tsx";
import { Project } from "./shell/project.tsx";

/** Asks for a key, then shows what it may see. */
export function App() {
  const [key, setKey] = useState(keptKey);
  useEffect(() => {
    const take = (): void => {
      takeHandedKey();
      setKey(keptKey());
    };
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  const me = useLoad(key, ({ signal }) => get<Whoami>("/me", signal));
  const known = me.value !== undefined && me.failure === undefined;
  useEffect(() => {
    // the key was revoked or has expired
    if (!known) return;
    addEventListener(KEY_REFUSED, me.again);
    return () => removeEventListener(KEY_REFUSED, me.again);
  }, [known, me.again]);
  const forget = (): void => {
    forgetKey();
    setKey(undefined);
  };
  const use = (text: string): void => {
    keepKey(text);
    if (text === key) me.again();
    else setKey(text);
  };
  const { failure } = me;
  const refused = failure?.kind === "refused" && failure.status === 401;
  if (key === undefined || refused) return <KeyGate onKey={use} refused={refused} />;
  if (me.value === undefined) {
    return (
      <main class="gate" aria-busy={me.busy}>
        <h1>Sumtree</h1>
        <LoadState load={me} />
      </main>
    );
  }
  return <Project me={me.value} forget={forget} />;
}
