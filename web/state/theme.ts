export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const NAME = "sumtree-theme";

export function keptTheme(): Theme {
  return THEMES.find((theme) => theme === localStorage.getItem(NAME)) ?? "auto";
}

/** Told when the colours are others than before, by the page's own button or by the system. Returns how to stop. */
export function onTheme(changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  dark.addEventListener("change", changed);
  return () => {
    chosen.disconnect();
    dark.removeEventListener("change", changed);
  };
}

export function applyTheme(theme: Theme): void {
  localStorage.setItem(NAME, theme);
  document.documentElement.dataset["theme"] = theme;
}
