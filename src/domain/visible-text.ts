// How a text looks to a person: whether anything of it is visible, and whether two texts look alike.

/** Whether a reader sees anything of it. Blanks, fillers and joiners alone are nothing; U+2800 is Braille's blank. */
export const isVisible = (text: string): boolean =>
  /[^\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);

/** Whether it holds signs that nobody sees and that change the order in which the others stand. */
export const isReordered = (text: string): boolean => /\p{Bidi_Control}/u.test(text);

/**
 * Whether somebody who typed one meant the other as a screen shows it: several blanks look like one, letters and their
 * marks may be one character or two, and keyboards have only straight apostrophes, quotes and hyphens.
 */
export function looksAlike(typed: string, shown: string): boolean {
  const plain = asSeen(shown);
  return plain !== "" && asSeen(typed) === plain;
}

/** Returns what all names have in common that a reader takes for the same one: as they look, in any case. */
export const calledLike = (name: string): string => asSeen(name).toLowerCase();

const asSeen = (text: string): string =>
  text
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}/gu, "")
    .replaceAll(/[\s\u2800]+/gu, " ")
    .replaceAll(/[‘’‚‛ʼ′]/gu, "'")
    .replaceAll(/[“”„‟″]/gu, '"')
    .replaceAll(/\p{Pd}|−/gu, "-")
    .trim();
