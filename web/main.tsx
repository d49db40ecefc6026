import { createRoot } from "react-dom/client";
import { answerOtherTabs, takeHandedKey } from "./api/key.ts";
import { App } from "./app.tsx";
import { applyTheme, keptTheme } from "./state/theme.ts";
import "./style/base.css";
import "./style/shell.css";
import "./style/rows.css";
import "./style/facets.css";
import "./style/details.css";

const handed = takeHandedKey();
answerOtherTabs();
applyTheme(keptTheme());
const container = document.querySelector("#page");
if (container !== null) createRoot(container).render(<App handed={handed} />);
