export const THEMES = { auto: "Auto", light: "Light", dark: "Dark" } as const;

const NAME = "sumtree-theme";

export function keptTheme(): string {
  const kept = localStorage.getItem(NAME) ?? "auto";
  return Object.hasOwn(THEMES, kept) ? kept : "auto";
}

export function applyTheme(theme: string): void {
  localStorage.setItem(NAME, theme);
  document.documentElement.dataset["theme"] = theme;
}
