// One endpoint: its target, who may call it, its input and output, its audit line, its function
// (docs/decisions/0033-one-api.md). A single door (`src/http/api/admit.ts`) enforces these declarations
// before `run`.
import type { z } from "zod";
import type { Actor } from "../domain/actor.ts";
import type { Action, Allowance, OwnAction, Standing } from "../domain/roles.ts";
import type { SignedIn } from "../people/people.ts";
import type { CsvFile } from "./csv.ts";
import type { Exchange } from "./exchange.ts";
import type { KeyRooms, Rooms } from "./rooms.ts";
import { type KeyTarget, methodOf, type PathField, type Target } from "./target.ts";

/**
 * Everybody; everybody signed in (or with a management key); or callers whose standing the table of roles
 * lists for this action: their role in the organization of the path, elsewhere the operator role. A
 * management key stands as an operator.
 */
export type Who = "anybody" | "signed_in" | Action;

/**
 * An output other than a JSON document: a file, an event stream, or the unchanged response of
 * `/v1/chat/completions`.
 */
export type Stream = "csv" | "pdf" | "events" | "completion";

/** A document with its file name. */
export interface PdfFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The admitted caller. */
export interface Caller {
  /** For the audit log: who makes this change, and from where. */
  actor: Actor;
  /** Whose call it is, whatever the credential: a person's id, or the installation (decision 18). */
  person: string;
  /** The role in the organization of the path; operator for everything else. */
  standing: Standing;
  /** All standings that permit this call; `standing` is one of them. */
  standings: readonly Standing[];
  /** `own`: only what this person created. */
  allowance: Allowance;
}
export interface PersonCaller extends Caller {
  signedIn: SignedIn;
}

interface KeyCall<Input> {
  input: Input;
  caller: Caller;
}
interface PersonCall<Input> {
  input: Input;
  caller: PersonCaller;
  exchange: Exchange;
}
interface OpenCall<Input> {
  input: Input;
  /** Null if not signed in. */
  caller: PersonCaller | null;
  exchange: Exchange;
}

type CallAt<T, W, Input> = [Extract<T, KeyTarget>] extends [never]
  ? W extends "anybody"
    ? OpenCall<Input>
    : PersonCall<Input>
  : KeyCall<Input>;
type RoomsAt<T> = [Extract<T, KeyTarget>] extends [never] ? Rooms : KeyRooms;
type AnswerOf<O> = O extends z.ZodType
  ? z.output<O>
  : O extends "csv"
    ? CsvFile
    : O extends "pdf"
      ? PdfFile
      : Response;

/** A change declares its audit line, even if it has none. */
type Audit<T> = T extends `GET ${string}` ? { audit?: null } : { audit: string | null };
/**
 * For actions that some may only apply to their own: returns who created the subject (throws if it does not
 * exist), and is called before `run`; null if `run` creates something or returns only the caller's own rows.
 */
type Own<T, W, I> = [W] extends [OwnAction]
  ? { own: ((input: I, rooms: RoomsAt<T>) => Promise<string | null>) | null }
  : { own?: never };

/** The summary for the document of the operator API. */
type Told<T> = [Extract<T, KeyTarget>] extends [never] ? { summary?: never } : { summary: string };

type Declared<T extends Target, W extends Who, I extends z.ZodObject, O extends z.ZodType | Stream> = {
  /** One target, or one per door where input and output agree. */
  target: T | readonly T[];
  who: W;
  /** Strict: unknown fields are rejected. Includes the fields of the path. */
  input: PathField<T> extends keyof z.output<I> ? I : `the path carries ${PathField<T>}`;
  output: O;
  status?: 201;
  run: (call: CallAt<T, W, z.output<I>>, rooms: RoomsAt<T>) => Promise<AnswerOf<O>>;
} & Audit<T> &
  Own<T, W, z.output<I>> &
  Told<T>;

export interface Endpoint<
  T extends Target = Target,
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodType | Stream = z.ZodType | Stream,
> {
  targets: readonly T[];
  who: Who;
  input: I;
  output: O;
  status: 200 | 201;
  /** The action's name in the audit log; null for reads. */
  audit: string | null;
  summary: string | null;
  own: ((input: never, rooms: Partial<Rooms>) => Promise<string | null>) | null;
  run(call: { input: unknown; caller: unknown; exchange: unknown }, rooms: Partial<Rooms>): Promise<unknown>;
}

/** Declares an endpoint; the types of `run` follow from its target, its `who` and its schemas. */
export function endpoint<
  const T extends Target,
  const W extends Who,
  I extends z.ZodObject,
  const O extends z.ZodType | Stream,
>(declared: Declared<T, W, I, O>): Endpoint<T, I, O> {
  const { target, who, input, output, status, audit, summary, own, run } = declared;
  return {
    targets: typeof target === "string" ? [target] : target,
    who,
    input: input as unknown as I,
    output,
    status: status ?? 200,
    audit: audit ?? null,
    summary: summary ?? null,
    own: (own ?? null) as Endpoint["own"],
    run: run as unknown as Endpoint<T, I, O>["run"],
  };
}

/** True if it only reads: its fields are the query, and no response is stored for it. */
export const reads = (target: Target): boolean => methodOf(target) === "GET";
