import { lazy } from "./lazy.tsx";

export const Choices = lazy("choices", () => import("./choices.tsx").then((module) => module.Choices));
