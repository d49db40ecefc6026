import { lazy } from "./lazy.tsx";

export const Choices = lazy("choices", () =>
  import("../components/choices.tsx").then((module) => module.Choices),
);
