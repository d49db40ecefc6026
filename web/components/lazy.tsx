import type { ComponentType } from "react";
import { useQuery } from "../api/use-query.ts";
import { Notice } from "./notice.tsx";

/** A view whose code is loaded when it is first shown, and again while that fails. */
export function lazy<Props extends object>(
  name: string,
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return function Lazy(props: Props) {
    const { value, failure, refetch } = useQuery(`code ${name}`, async () => ({ View: await load() }));
    if (value !== undefined) return <value.View {...props} />;
    if (failure === undefined) return null;
    return (
      <Notice kind="error" title="This view could not be fetched.">
        It is tried again by itself. <button onClick={refetch}>Retry</button> The service may have been
        updated: <button onClick={() => location.reload()}>Reload</button>
      </Notice>
    );
  };
}
