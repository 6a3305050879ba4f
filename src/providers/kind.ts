// What a kind of provider declares: its own settings, and how a provider is made from them.
import type { z } from "zod";
import type { ProviderAddress } from "./http/http-provider.ts";
import type { Provider } from "./provider.ts";
import type { Wrong } from "./setting.ts";

export interface ProviderKind<Own extends object = object> {
  /** The value of `providers[].kind`. */
  readonly name: string;
  /** One sentence, for editors. */
  readonly description: string;
  /** Its own settings, beside name, base_url, health and timeouts; checked strictly. */
  readonly settings: z.ZodRawShape;
  /** The vendor's own address, used if the configuration names none; absent if there is no such address. */
  readonly baseUrl?: string;
  /** The same, if it depends on other settings. */
  addressOf?(this: void, own: Own): string;
  /** An example of an address of this kind, if each account has its own. */
  readonly addressExample?: string;
  /** Returns a setting that cannot work, before anything starts. `baseUrl` is the configured one, null = none. */
  wrong?(own: Own, baseUrl: string | null): Wrong | null;
  /** The usual path of a cheap GET below the base URL; null = a probe only connects. */
  readonly probePath: string | null;
  /** What identifies the account: the setting that holds it, whether calls need it, and whether it is set. */
  readonly credential: { setting: string; needed: boolean; given(own: Own): boolean };
  /** Returns the settings that others may see; never a secret. */
  shown(own: Own): Record<string, unknown>;
  /** Creates a provider. The first one loads the kind's wire shape, so kinds that are not configured use no memory. */
  create(upstream: ProviderAddress, own: Own): Provider | Promise<Provider>;
  /** Runs a provider inside this process, if the configuration names no address. */
  startInside?(this: void): Promise<{ baseUrl: string; stop(): Promise<void> }>;
}

type Described<Shape extends z.ZodRawShape> = ProviderKind<z.output<z.ZodObject<Shape>>> & {
  settings: Shape;
};

/** A kind as a list of kinds holds it: it is only ever given what its own `settings` have parsed. */
export const providerKind = <Shape extends z.ZodRawShape>(kind: Described<Shape>): ProviderKind => kind;
