export const THEMES = { auto: "Auto", light: "Light", dark: "Dark" } as const;

const NAME = "sumtree-theme";

export function keptTheme(): string {
  const kept = localStorage.getItem(NAME) ?? "auto";
  return Object.hasOwn(THEMES, kept) ? kept : "auto";
}

/** Calls back when the colours change: by the page's button, by the system, or for printing. Returns how to stop. */
export function onTheme(changed: () => void): () => void {
  const media = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  for (const one of media) one.addEventListener("change", changed);
  return () => {
    chosen.disconnect();
    for (const one of media) one.removeEventListener("change", changed);
  };
}

export function applyTheme(theme: string): void {
  localStorage.setItem(NAME, theme);
  document.documentElement.dataset["theme"] = theme;
}
