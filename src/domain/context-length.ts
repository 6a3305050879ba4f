// The sentences that say a request does not fit the model's context window. OpenAI's clients recognise them by "maximum
// context length"; the Messages surface takes them off again and puts Anthropic's sentence in their place (surfaces.md §2).

const WINDOW = "This model's maximum context length is";

/** Figures are tokens: the model's window, the prompt as counted or bounded here, and the most output asked for. */
export const requestTooLong = (window: number, prompt: number, completion: number): string =>
  `${WINDOW} ${window} tokens. However, you requested ${prompt + completion} tokens (${prompt} in the messages, ${completion} in the completion).`;

/** The same by the provider's own count, which it may keep to itself, as it may its window. */
export function countTooHigh(window: number | undefined, counted: number | undefined): string {
  if (window === undefined)
    return "The provider counts more in this request than the model's maximum context length.";
  return `${WINDOW} ${window} tokens. The provider counts ${counted ?? "more"} in this request.`;
}

const SENTENCE = new RegExp(`^${WINDOW} .*?(?: in the completion\\)|in this request)\\.\\s*`);

/** What a message says after one of the sentences above that names the window; null where it begins with none. */
export const afterContextSentence = (message: string): string | null => {
  const beginning = SENTENCE.exec(message)?.[0];
  return beginning === undefined ? null : message.slice(beginning.length).trimEnd();
};
