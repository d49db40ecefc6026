import { useEffect, useState } from "react";
import { get, KEY_REFUSED } from "./api/client.ts";
import { forgetKey, storeKey, storedKey, keyOfOtherTabs, onSignedOut, takeHandedKey } from "./api/key.ts";
import type { Whoami } from "./api/routes.ts";
import { queryClient } from "./api/query-client.ts";
import { useQuery } from "./api/use-query.ts";
import { SignIn } from "./shell/sign-in.tsx";
import { OtherKey } from "./shell/other-key.tsx";
import { LoadState } from "./components/notice.tsx";
import { Project } from "./shell/project.tsx";

interface AppProps {
  /** Key of the opening link that would replace the stored one, or cannot be a key. */
  readonly handed: string | undefined;
}

/** Asks for a key, then shows what it may see. */
export function App({ handed }: AppProps) {
  const [key, setKey] = useState(storedKey);
  const [offered, setOffered] = useState(handed);
  const [isAsking, setAsking] = useState(key === undefined);
  useEffect(() => {
    const take = (): void => {
      setOffered(takeHandedKey());
      setKey(storedKey());
    };
    const stop = onSignedOut(() => {
      queryClient.clear();
      setKey(storedKey());
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
      if (other !== undefined && storedKey() === undefined) storeKey(other);
      setKey(storedKey());
      setAsking(false);
    });
  }, [isAsking]);
  const me = useQuery(key === undefined ? undefined : `me\n${key}`, ({ signal }) =>
    get<Whoami>("/me", signal),
  );
  const known = me.value !== undefined && me.failure === undefined;
  useEffect(() => {
    // the key was revoked or has expired
    if (!known) return;
    addEventListener(KEY_REFUSED, me.refetch);
    return () => removeEventListener(KEY_REFUSED, me.refetch);
  }, [known, me.refetch]);
  const signOut = (): void => {
    forgetKey();
    queryClient.clear();
    setKey(undefined);
  };
  const use = (text: string, onDevice?: boolean): void => {
    setOffered(undefined);
    if (text !== key) queryClient.clear();
    storeKey(text, onDevice);
    if (text === key) me.refetch();
    else setKey(text);
  };
  const { failure } = me;
  const refused = failure?.kind === "refused" && failure.status === 401;
  if (isAsking) return <main className="gate" aria-busy />;
  if (key === undefined || refused) return <SignIn key={offered} onKey={use} {...{ refused, offered }} />;
  if (me.value === undefined) {
    return (
      <main className="gate" aria-busy={me.busy}>
        <h1>Sumtree</h1>
        <LoadState load={me} />
      </main>
    );
  }
  return (
    <>
      <Project key={key} me={me.value} refetch={me.refetch} signOut={signOut} />
      {offered !== undefined && (
        <OtherKey
          offered={offered}
          me={me.value}
          onAnswer={(isWanted) => (isWanted ? use(offered) : setOffered(undefined))}
        />
      )}
    </>
  );
}
