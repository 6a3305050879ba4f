// Extracts from an upstream's rejection of a prompt how much was too much: only figures, no words. Clients that
// shorten a conversation by themselves use them (wire.md §8.3).

/** Tokens. A figure that was not reported is absent. */
export interface ContextFigures {
  window?: number;
  prompt?: number;
  completion?: number;
}

/** Anything less is not a model's window, and mostly a status or a version. */
const TOKENS_MIN = 256;
const TOKENS_MAX = 1e9;

/** Reads a message that is known to be about the context; returns null if it has no figures. */
export function contextFigures(message: string): ContextFigures | null {
  const told = [...message.replaceAll(/(?<=\d),(?=\d{3})/g, "").matchAll(/(?<![\w.])\d{3,9}(?![\w]|\.\d)/g)];
  const figures = told.map(([figure]) => Number(figure)).filter(isPossible);
  const sorted = figures.toSorted((a, b) => b - a);
  const [largest, second] = sorted;
  if (largest === undefined) return null;
  if (second === undefined || second === largest) return { window: largest };
  // "188240 + 21333 > 200000": their sum is not reported.
  const parts = figures.filter((figure) => figure !== largest);
  const [prompt = 0, completion = 0] = parts;
  if (parts.length === 2 && prompt + completion > largest) return { window: largest, prompt, completion };
  for (const [at, one] of figures.entries())
    for (const other of figures.slice(at + 1))
      if (one + other === largest) return { window: second, prompt: one, completion: other };
  return { window: second, prompt: largest };
}

const isPossible = (figure: number): boolean => figure >= TOKENS_MIN && figure <= TOKENS_MAX;
