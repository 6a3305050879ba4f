// Ignores the second click of a double click on a button that opens a dialog: it would hit the dialog's overlay and
// close it.
export function ignoreSecondClicks(): void {
  document.addEventListener(
    "click",
    (event) => {
      const beside =
        event.target instanceof Element && event.target.closest(".mantine-Overlay-root") !== null;
      if (event.detail > 1 && beside) event.stopPropagation();
    },
    { capture: true },
  );
}
