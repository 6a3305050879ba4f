// What a kind of provider says of itself: its own settings, and how one is made of them.
import type { z } from "zod";
import type { ProviderAddress } from "./http/http-provider.ts";
import type { Provider } from "./provider.ts";
import type { Wrong } from "./setting.ts";

export interface ProviderKind<Own extends object = object> {
  /** The word of `providers[].kind`. */
  readonly name: string;
  /** One sentence, for editors. */
  readonly description: string;
  /** Its own settings, beside name, base_url, health and timeouts; checked strictly. */
  readonly settings: z.ZodRawShape;
  /** The vendor's own address where the configuration names none; left out where there is no such thing. */
  readonly baseUrl?: string;
  /** The same, where other settings decide it. */
  addressOf?(this: void, own: Own): string;
  /** What an address of this kind looks like, where each account has its own. */
  readonly addressExample?: string;
  /** What cannot work, said before anything starts; `baseUrl` is the one that is configured, null = none. */
  wrong?(own: Own, baseUrl: string | null): Wrong | null;
  /** The usual path of a cheap GET below the base URL; null = a connection is all that is asked for. */
  readonly probePath: string | null;
  /** What proves whose account it is: the setting that holds it, whether calls work without, and whether it was given. */
  readonly credential: { setting: string; needed: boolean; given(own: Own): boolean };
  /** What of its settings others may see; never a secret. */
  shown(own: Own): Record<string, unknown>;
  /** Loads its wire shape with the first one: what nobody configured is not in memory. */
  create(upstream: ProviderAddress, own: Own): Provider | Promise<Provider>;
  /** Runs one inside this process, where the configuration names no address. */
  startInside?(this: void): Promise<{ baseUrl: string; stop(): Promise<void> }>;
}

type Described<Shape extends z.ZodRawShape> = ProviderKind<z.output<z.ZodObject<Shape>>> & {
  settings: Shape;
};

/** A kind as a list of kinds holds it: only what its own `settings` have read is ever handed to it. */
export const providerKind = <Shape extends z.ZodRawShape>(kind: Described<Shape>): ProviderKind => kind;
