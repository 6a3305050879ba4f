// Assembles a call's arguments, which come in pieces, each with its place (`$.rows[0].name`), into JSON text. The
// text is passed on as it grows, so that long arguments are no silence. A place that was left cannot be entered
// again: its text has been sent.
import { isExactNumber } from "../../domain/exact-json.ts";
import { isJsonObject, isPresent } from "../../domain/read-value.ts";
import { unreadableArguments } from "../call-arguments.ts";
import { Failure } from "../failure.ts";

type Step = string | number;

/** An open object or list, and what was already sent of it. */
interface Open {
  list: boolean;
  /** The names that an object already has. */
  names: Set<string>;
  length: number;
}

const STEP = /\.([\p{L}\p{N}_$-]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/guy;
const DEPTH_MAX = 64;

/** The arguments of one call; its output so far is always the beginning of a JSON object. */
export class PartialArguments {
  private readonly open: Open[] = [{ list: false, names: new Set(), length: 0 }];
  private path: Step[] = [];
  /** A string has begun and continues. */
  private text = false;
  private begun = false;

  /** Returns the text that these pieces add. Throws `Failure` if they make no JSON text. */
  read(pieces: readonly unknown[]): string {
    return pieces.map((piece) => this.piece(piece)).join("");
  }

  /** Returns the text that closes everything. */
  end(): string {
    const opening = this.begin();
    return opening + this.closeText() + this.closeTo(0);
  }

  private begin(): string {
    const opening = this.begun ? "" : "{";
    this.begun = true;
    return opening;
  }

  private piece(piece: unknown): string {
    if (!isJsonObject(piece)) throw unplaced();
    const path = stepsOf(piece["jsonPath"]);
    const { stringValue: words } = piece;
    const goesOn =
      this.text && path.length === this.path.length && path.every((step, at) => step === this.path[at]);
    if (goesOn) {
      if (isPresent(words) && typeof words !== "string") throw unreadableArguments();
      const more = !isPresent(words) ? "" : JSON.stringify(words).slice(1, -1);
      return more + (piece["willContinue"] === true ? "" : this.closeText());
    }
    const before = this.begin() + this.closeText() + this.enter(path);
    if (!isPresent(words)) return before + valueText(piece);
    if (typeof words !== "string") throw unreadableArguments();
    this.text = true;
    const text = `${before}${JSON.stringify(words).slice(0, -1)}`;
    return text + (piece["willContinue"] === true ? "" : this.closeText());
  }

  private closeText(): string {
    const closing = this.text ? '"' : "";
    this.text = false;
    return closing;
  }

  private closeTo(depth: number): string {
    let closing = "";
    while (this.open.length > depth) closing += this.open.pop()?.list === true ? "]" : "}";
    return closing;
  }

  /** Leaves objects and lists that the new place is not in, and enters it up to where its value begins. */
  private enter(path: Step[]): string {
    let shared = 0;
    while (shared < path.length - 1 && shared < this.open.length - 1 && path[shared] === this.path[shared])
      shared += 1;
    let text = this.closeTo(shared + 1);
    for (const [at, step] of path.entries()) {
      if (at < shared) continue;
      text += this.member(step);
      if (at === path.length - 1) break;
      const list = typeof path[at + 1] === "number";
      this.open.push({ list, names: new Set(), length: 0 });
      text += list ? "[" : "{";
    }
    this.path = path;
    return text;
  }

  /** Begins a new member of the innermost object or list. */
  private member(step: Step): string {
    const inside = this.open.at(-1);
    if (inside === undefined || inside.list !== (typeof step === "number")) throw unplaced();
    const comma = inside.length > 0 ? "," : "";
    if (typeof step === "number" ? step !== inside.length : inside.names.has(step)) throw unplaced();
    inside.length += 1;
    if (typeof step === "number") return comma;
    inside.names.add(step);
    return `${comma}${JSON.stringify(step)}:`;
  }
}

/** A number, a boolean, or null. */
function valueText({ numberValue, boolValue }: Record<string, unknown>): string {
  if (typeof numberValue === "number" || isExactNumber(numberValue) || typeof boolValue === "boolean")
    return JSON.stringify(numberValue ?? boolValue);
  if (isPresent(numberValue) || isPresent(boolValue)) throw unreadableArguments();
  return "null";
}

function stepsOf(jsonPath: unknown): Step[] {
  if (typeof jsonPath !== "string" || !jsonPath.startsWith("$")) throw unplaced();
  const steps: Step[] = [];
  let read = 1;
  STEP.lastIndex = read;
  for (let found = STEP.exec(jsonPath); found !== null; found = STEP.exec(jsonPath)) {
    const [whole, name, index, single, double] = found;
    steps.push(index === undefined ? (name ?? unquoted(single ?? double ?? "")) : Number(index));
    read += whole.length;
  }
  if (read !== jsonPath.length || steps.length === 0 || steps.length > DEPTH_MAX) throw unplaced();
  return steps;
}

const unquoted = (text: string): string => text.replaceAll(/\\(.)/gu, "$1");

const unplaced = (): Failure =>
  new Failure("broken", "unknown", "the upstream sent call arguments that are not JSON");
