// Asks before an action that cannot be undone or that stops traffic: on a terminal the user must type the name.
import type { Context } from "./report.ts";
import { Problem } from "./problem.ts";

/** Returns if the user typed the name, gave `--yes`, or there is no terminal to ask on. Throws `Problem` otherwise. */
export async function confirm(
  context: Context,
  question: { what: string; name: string; yes: boolean | undefined },
): Promise<void> {
  if (question.yes === true || !context.interactive) return;
  const { isCancel, text } = await import("@clack/prompts");
  const typed = await text({
    message: `${question.what} Type ${question.name} to continue:`,
    output: process.stderr,
  });
  if (!isCancel(typed) && typed === question.name) return;
  throw new Problem("Nothing was changed.", `Type ${question.name} when asked, or add --yes.`);
}
