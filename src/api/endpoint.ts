// One endpoint: where it stands, who may call it, what it takes and answers, what it leaves in the audit log, what it does
// (docs/decisions/0033-one-api.md). What is declared here is enforced by one door (`src/http/api/admit.ts`) before `run`.
import type { z } from "zod";
import type { Actor } from "../domain/actor.ts";
import type { Action, Allowance, OwnAction, Standing } from "../domain/roles.ts";
import type { SignedIn } from "../people/people.ts";
import type { CsvFile } from "./csv.ts";
import type { Exchange } from "./exchange.ts";
import type { KeyRooms, Rooms } from "./rooms.ts";
import { type KeyTarget, methodOf, type PathField, type Target } from "./target.ts";

/**
 * Everybody; whoever is signed in (or holds a management key); or whose standing has a row of this action in the table of
 * roles: in the organization of the path, as an operator elsewhere. A management key stands as an operator.
 */
export type Who = "anybody" | "signed_in" | Action;

/** An answer that is no JSON document: a file, an event stream, or the very answer of `/v1/chat/completions`. */
export type Stream = "csv" | "pdf" | "events" | "completion";

/** A document to keep, under its name. */
export interface PdfFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Who passed the door. */
export interface Caller {
  /** For the audit log: who makes this change, and from where. */
  actor: Actor;
  /** Whose call it is under whichever hat: a person's id, or the installation (decision 18). */
  person: string;
  /** In the organization of the path; operators of everything else. */
  standing: Standing;
  /** All of theirs by which they may do this; `standing` is one of them. */
  standings: readonly Standing[];
  /** `own`: only what this person made. */
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
  /** Null for those who are not signed in. */
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

/** A change says what it leaves in the audit log, if only that it leaves nothing. */
type Audit<T> = T extends `GET ${string}` ? { audit?: null } : { audit: string | null };
/**
 * Where some may do only what concerns their own: who made what this is about (throws when there is no such thing), asked
 * before `run`; null where `run` makes something new or answers with their own rows only.
 */
type Own<T, W, I> = [W] extends [OwnAction]
  ? { own: ((input: I, rooms: RoomsAt<T>) => Promise<string | null>) | null }
  : { own?: never };

/** The document of the operator API tells what it does. */
type Told<T> = [Extract<T, KeyTarget>] extends [never] ? { summary?: never } : { summary: string };

type Declared<T extends Target, W extends Who, I extends z.ZodObject, O extends z.ZodType | Stream> = {
  /** One place, or one at each door where input and output agree. */
  target: T | readonly T[];
  who: W;
  /** Strict: what it does not name is refused. Names the fields of the path, too. */
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
  /** The action's name in the audit log; null for reading. */
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

/** Whether it only reads: its fields are the query, and nothing is remembered of it. */
export const reads = (target: Target): boolean => methodOf(target) === "GET";
