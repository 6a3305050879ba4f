// Runs before everything else of the page, as a separate script under a name that all versions have: if the dashboard
// itself cannot be loaded, it could not report that.
import { comeAnew } from "./come-anew.ts";

/** Defined here because the pages' texts import too much else. */
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
  true, // load errors do not bubble
);
