import { render } from "preact";
import { answerOtherTabs, takeHandedKey } from "./api/key.ts";
import { App } from "./app.tsx";
import { copyExactly } from "./components/exact-copies.ts";
import { applyTheme, keptTheme } from "./state/theme.ts";
import "./style/base.css";
import "./style/shell.css";
import "./style/rows.css";
import "./style/details.css";

const handed = takeHandedKey();
answerOtherTabs();
applyTheme(keptTheme());
document.addEventListener("copy", copyExactly);
const container = document.querySelector("#page");
if (container !== null) render(<App handed={handed} />, container);
