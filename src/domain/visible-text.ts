// How a text looks to a person: whether anything of it is visible, and whether two texts look alike.

/** True if anything of the text is visible. Blanks, fillers and joiners alone are not; U+2800 is the Braille blank. */
export const isVisible = (text: string): boolean =>
  /[^\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);

/** True if the text contains invisible characters that change the order in which the others are shown. */
export const isReordered = (text: string): boolean => /\p{Bidi_Control}/u.test(text);

/**
 * True if a typed text can stand for a shown one: several blanks look like one, a letter and its mark may be one character
 * or two, and keyboards have only straight apostrophes, quotes and hyphens.
 */
export function looksAlike(typed: string, shown: string): boolean {
  const plain = asSeen(shown);
  return plain !== "" && asSeen(typed) === plain;
}

/** Returns the same text for all names that a reader takes for the same one, whatever their case. */
export const comparableName = (name: string): string => asSeen(name).toLowerCase();

const asSeen = (text: string): string =>
  text
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}/gu, "")
    .replaceAll(/[\s\u2800]+/gu, " ")
    .replaceAll(/[‘’‚‛ʼ′]/gu, "'")
    .replaceAll(/[“”„‟″]/gu, '"')
    .replaceAll(/\p{Pd}|−/gu, "-")
    .trim();
