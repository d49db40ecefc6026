import { useEffect, useState, type ComponentType } from "react";
import { Notice } from "../components/notice.tsx";

/** A view whose code is loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [View, setView] = useState<ComponentType<Props> | undefined>(() => loaded);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (View !== undefined) return;
      load().then(
        (view) => {
          loaded = view;
          setView(() => view);
        },
        () => setFailed(true),
      );
    }, [View]);
    if (failed) {
      return (
        <Notice kind="error" title="This view could not be fetched.">
          The service may have been updated: <button onClick={() => location.reload()}>Reload</button>
        </Notice>
      );
    }
    return View === undefined ? null : <View {...props} />;
  };
}
