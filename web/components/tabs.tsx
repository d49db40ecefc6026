import { useEffect, useRef, type KeyboardEvent } from "react";

interface TabsProps {
  readonly tabs: Readonly<Record<string, string>>;
  readonly shown: string;
  readonly onTab: (tab: string) => void;
}

/** Left and right move between them. The panel they switch has the id `panel`. */
export function Tabs({ tabs, shown, onTab }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const names = Object.keys(tabs);
  useEffect(() => {
    // on a narrow screen the chosen tab may be out of sight
    const tab = list.current?.querySelector(`#tab-${shown}`);
    tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [shown]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = names[(names.indexOf(shown) + step + names.length) % names.length];
    if (next === undefined) return;
    onTab(next);
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
    event.preventDefault();
  };
  return (
    <div className="tabs" role="tablist" ref={list} onKeyDown={onKeyDown}>
      {names.map((name) => (
        <button
          key={name}
          id={`tab-${name}`}
          role="tab"
          aria-selected={name === shown}
          aria-controls="panel"
          tabIndex={name === shown ? 0 : -1}
          onClick={() => onTab(name)}
        >
          {tabs[name]}
        </button>
      ))}
    </div>
  );
}
