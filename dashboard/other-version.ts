// Runs before everything else of the page, as a script of its own under a name that all versions have: where the dashboard itself
// does not come, nothing of it could say so.
import { comeAnew } from "./come-anew.ts";

/** Here, as the words of the pages bring much else along. */
const UPDATING =
  "The dashboard did not load. Most likely the gateway is being updated; this page retries every five seconds.";
const SLOWLY_MS = 5_000;

addEventListener(
  "error",
  ({ target }) => {
    const isScript = target instanceof HTMLScriptElement;
    const isStyle = target instanceof HTMLLinkElement && target.rel === "stylesheet";
    if (!(isScript || isStyle) || comeAnew() || !isScript) return;
    const said = document.createElement("p");
    said.role = "status";
    said.textContent = UPDATING;
    document.getElementById("root")?.replaceChildren(said);
    setTimeout(() => location.reload(), SLOWLY_MS);
  },
  true, // errors of loading do not rise
);
