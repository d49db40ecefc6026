export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const NAME = "sumtree-theme";

export function keptTheme(): Theme {
  return THEMES.find((theme) => theme === localStorage.getItem(NAME)) ?? "auto";
}

export function applyTheme(theme: Theme): void {
  localStorage.setItem(NAME, theme);
  document.documentElement.dataset["theme"] = theme;
}
