// Checks, run in the page itself, for what does not fit on a screen. Each returns names, and nothing if all is well.

/** Tables that are wider than their frame, so that their last columns (actions and amounts) are out of sight. */
export const WIDER = `[...document.querySelectorAll(".table-scroll")]
  .filter((frame) => frame.scrollWidth > frame.clientWidth + 1)
  .map((frame) => frame.getAttribute("aria-label"))
  .join()`;

/** Plain words broken across two lines: only names, addresses and ids may be. */
export const BROKEN = `(() => {
  const broken = [];
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.parentElement.checkVisibility() || text.parentElement.closest("code, pre, svg, textarea")) continue;
    for (const word of text.data.matchAll(/(?<!\\S)[A-Za-z]{3,16}(?![^\\s.,:;])/g)) {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word[0]);
    }
  }
  return broken.join();
})()`;
