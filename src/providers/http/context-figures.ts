// How much was too much, from an upstream's refusal of a prompt: figures alone, which are no words of anybody's. Clients that shorten a
// conversation by themselves go by them (wire.md §8.3).

/** Tokens. A figure that was not told is left out. */
export interface ContextFigures {
  window?: number;
  prompt?: number;
  completion?: number;
}

/** Less is no window of a model's, and mostly a status or a version. */
const TOKENS_MIN = 256;
const TOKENS_MAX = 1e9;

/** Of a message that is known to speak of the context; null where it tells no figures. */
export function contextFigures(message: string): ContextFigures | null {
  const told = [...message.replaceAll(/(?<=\d),(?=\d{3})/g, "").matchAll(/(?<![\w.])\d{3,9}(?![\w]|\.\d)/g)];
  const figures = told.map(([figure]) => Number(figure)).filter(isPossible);
  const sorted = figures.toSorted((a, b) => b - a);
  const [largest, second] = sorted;
  if (largest === undefined) return null;
  if (second === undefined || second === largest) return { window: largest };
  // "188240 + 21333 > 200000": their sum is not told.
  const parts = figures.filter((figure) => figure !== largest);
  const [prompt = 0, completion = 0] = parts;
  if (parts.length === 2 && prompt + completion > largest) return { window: largest, prompt, completion };
  for (const [at, one] of figures.entries())
    for (const other of figures.slice(at + 1))
      if (one + other === largest) return { window: second, prompt: one, completion: other };
  return { window: second, prompt: largest };
}

const isPossible = (figure: number): boolean => figure >= TOKENS_MIN && figure <= TOKENS_MAX;
