// A provider's own web search that is offered alone, on any surface (decision 95).
import { echo, type Place, refuse } from "../../domain/read-value.ts";

/**
 * The refusal for a request whose only tool is such a search, at the tool's place. Beside other tools a search is left out: answers
 * get worse, but not wrong.
 */
export const searchAlone = (type: string, at: Place): Error =>
  refuse(
    "unsupported_value",
    at,
    "type",
    `${echo(type)} is the only tool, and no published rate covers its searches: what the model says without one would pass for what it found. Offer a tool of your own that searches.`,
  );
