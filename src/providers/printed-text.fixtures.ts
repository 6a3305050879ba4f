import type { OutgoingBody } from "./provider.ts";

/** The text of a body with this output ceiling, as an upstream reads it. */
export function printedText(body: Pick<OutgoingBody, "print">, ceiling: number): string {
  const text = body.print(ceiling);
  return typeof text === "string" ? text : Buffer.from(text).toString();
}
