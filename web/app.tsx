import { useEffect, useState } from "preact/hooks";
import { get, KEY_REFUSED } from "./api/ask.ts";
import { forgetKey, keepKey, keptKey, keyOfOtherTabs, onSignedOut, takeHandedKey } from "./api/key.ts";
import type { Whoami } from "./api/routes.ts";
import { forgetAnswers, useLoad } from "./api/use-load.ts";
import { KeyGate } from "./shell/key-gate.tsx";
import { OtherKey } from "./shell/other-key.tsx";
import { LoadState } from "./parts/notice.tsx";
import { Project } from "./shell/project.tsx";

interface AppProps {
  /** Of the link that opened the page, where another key is kept. */
  readonly handed: string | undefined;
}

/** Asks for a key, then shows what it may see. */
export function App({ handed }: AppProps) {
  const [key, setKey] = useState(keptKey);
  const [offered, setOffered] = useState(handed);
  const [isAsking, setAsking] = useState(key === undefined);
  useEffect(() => {
    const take = (): void => {
      setOffered(takeHandedKey());
      setKey(keptKey());
    };
    const stop = onSignedOut(() => {
      forgetAnswers();
      setKey(keptKey());
    });
    addEventListener("hashchange", take);
    return () => {
      stop();
      removeEventListener("hashchange", take);
    };
  }, []);
  useEffect(() => {
    if (!isAsking) return;
    void keyOfOtherTabs().then((other) => {
      if (other !== undefined && keptKey() === undefined) keepKey(other);
      setKey(keptKey());
      setAsking(false);
    });
  }, [isAsking]);
  const me = useLoad(key, ({ signal }) => get<Whoami>("/me", signal));
  const known = me.value !== undefined && me.failure === undefined;
  useEffect(() => {
    // the key was revoked or has expired
    if (!known) return;
    addEventListener(KEY_REFUSED, me.again);
    return () => removeEventListener(KEY_REFUSED, me.again);
  }, [known, me.again]);
  const signOut = (): void => {
    forgetKey();
    forgetAnswers();
    setKey(undefined);
  };
  const use = (text: string, onDevice: boolean): void => {
    if (text !== key) forgetAnswers();
    keepKey(text, { onDevice });
    if (text === key) me.again();
    else setKey(text);
  };
  const { failure } = me;
  const refused = failure?.kind === "refused" && failure.status === 401;
  if (isAsking) return <main class="gate" aria-busy />;
  if (key === undefined || refused) return <KeyGate onKey={use} refused={refused} />;
  if (me.value === undefined) {
    return (
      <main class="gate" aria-busy={me.busy}>
        <h1>Sumtree</h1>
        <LoadState load={me} />
      </main>
    );
  }
  return (
    <>
      <Project key={key} me={me.value} signOut={signOut} />
      {offered !== undefined && (
        <OtherKey
          offered={offered}
          me={me.value}
          onAnswer={(isWanted) => {
            setOffered(undefined);
            if (isWanted) use(offered, false);
          }}
        />
      )}
    </>
  );
}
