// The calls of one choice: an object in one piece, or a name and then pieces of its arguments. Gemini gives most of
// them no id, so they get one (wire.md §8.2). A signature is handed over with the call that it came on.
import { isJsonObject, isPresent } from "../../domain/read-value.ts";
import { namelessCall, unreadableArguments } from "../call-arguments.ts";
import { requireFewCalls } from "../calls-max.ts";
import { GivenIds } from "../given-ids.ts";
import type { Part } from "../provider.ts";
import { KeptBound } from "../kept-bound.ts";
import { PartialArguments } from "./partial-arguments.ts";
import { keptSignature, signatureOf } from "./signatures.ts";

/** The bound on the signatures of all calls. Beyond it they are not kept, and the next turn says that there is none. */
const GIVEN_CHARACTERS_MAX = 4 * 1024 * 1024;

/** The calls of one choice; throws `Failure` for a call without a name and for arguments that make no JSON. */
export class FunctionCalls {
  private begun = 0;
  private readonly bound = new KeptBound(GIVEN_CHARACTERS_MAX, GIVEN_CHARACTERS_MAX);
  private readonly ids = new GivenIds();
  /** The call whose arguments are incomplete. */
  private unfinished: PartialArguments | null = null;

  constructor(
    private readonly choice: number,
    private readonly issuer: () => string,
  ) {}

  /** True if a call was handed over. */
  get any(): boolean {
    return this.begun > 0;
  }

  /** Appends what one part says about a call. Throws `Failure` for arguments of a call without a name. */
  read(call: Record<string, unknown>, signature: unknown, parts: Part[]): void {
    const { name, args, partialArgs, willContinue } = call;
    const goesOn = willContinue === true;
    if (!(!isPresent(args) || isJsonObject(args)) || !(!isPresent(partialArgs) || Array.isArray(partialArgs)))
      throw unreadableArguments();
    if (typeof name === "string" && name !== "") this.begin(name, call, { signature, parts });
    else if (this.unfinished === null && (isJsonObject(args) || Array.isArray(partialArgs)))
      throw namelessCall();
    if (isJsonObject(args) && !goesOn && !Array.isArray(partialArgs)) {
      this.unfinished = null;
      this.tell(JSON.stringify(args), parts);
      return;
    }
    if (Array.isArray(partialArgs)) this.tell(this.unfinished?.read(partialArgs) ?? "", parts);
    if (!goesOn) this.end(parts);
  }

  /** Appends what closes the last call. */
  end(parts: Part[]): void {
    if (this.unfinished === null) return;
    this.tell(this.unfinished.end(), parts);
    this.unfinished = null;
  }

  private begin(
    name: string,
    { id }: Record<string, unknown>,
    { signature, parts }: { signature: unknown; parts: Part[] },
  ): void {
    requireFewCalls(this.begun);
    this.end(parts);
    const signed = signatureOf(signature);
    this.bound.keep(signed ?? "");
    const kept = this.bound.begin() ? signed : null;
    const part = {
      type: "tool_call",
      choice: this.choice,
      index: this.begun,
      id: this.ids.give(id),
      name,
    } as const;
    this.begun += 1;
    this.unfinished = new PartialArguments();
    parts.push(kept === null ? part : { ...part, extraContent: keptSignature(kept, this.issuer()) });
  }

  private tell(text: string, parts: Part[]): void {
    if (text !== "") parts.push({ type: "tool_arguments", choice: this.choice, index: this.begun - 1, text });
  }
}
