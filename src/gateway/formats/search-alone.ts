// A provider's own web search that is offered alone, on any surface (decision 95).
import { echo, type Place, refuse } from "../../domain/read-value.ts";

/**
 * The refusal for a request whose only tool is such a search, at the tool's place. Beside other tools a search is left
 * out instead: answers without it are worse, but not wrong.
 */
export const searchAlone = (type: string, at: Place): Error =>
  refuse(
    "unsupported_value",
    at,
    "type",
    `${echo(type)} is the only tool, but it is not available: no published rate covers its searches. Without it, the model's answer could be mistaken for search results. Offer a search tool of your own.`,
  );
