// Providers by hand: probes on request, and breakers that an operator opens and closes.
import type { z } from "zod";
import type * as platformShapes from "../api/shapes/platform.ts";
import type { Actor } from "../domain/actor.ts";
import { overloaded } from "../domain/overloaded.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { auditLine } from "../store/audit-log.ts";
import type { Breakers } from "../releases/breakers.ts";
import type { Health } from "../releases/health.ts";
import { configured, providerRow, type ProvidersPorts } from "../reporting/providers.ts";

export interface ProviderPorts extends ProvidersPorts {
  health: Pick<Health, "accountRefusal" | "lastProbe" | "probe">;
  breakers: Pick<Breakers, "close" | "of" | "open">;
}

type Provider = z.output<typeof platformShapes.provider>;

export const providersByHand = (on: ProviderPorts) => ({
  /** Throws for a provider that is not probed, and if this machine has no resources left for a connection. */
  async probe(name: string): Promise<z.output<typeof platformShapes.probeResult>> {
    const { probed } = configured(on, name);
    if (!probed)
      throw new OperatorRefusal(
        "not_configured",
        "This provider is not probed: its health.probe is null, or it runs inside the gateway.",
      );
    const began = performance.now();
    const well = await on.health.probe(name);
    if (well === null) throw overloaded();
    const ms = Math.round(performance.now() - began);
    return { provider: await providerRow(on, name), well, ms };
  },
  async openBreaker(name: string, reason: string, actor: Actor): Promise<Provider> {
    configured(on, name);
    const line = { actor, action: "provider.open", organizationId: null, target: name, after: { reason } };
    await on.breakers.open(name, { reason, openedBy: actor.id }, auditLine(line, on.clock.nowMs()));
    return await providerRow(on, name);
  },
  async closeBreaker(name: string, actor: Actor): Promise<Provider> {
    configured(on, name);
    const reason = on.breakers.of(name)?.reason;
    const before = reason === undefined ? null : { reason };
    const line = { actor, action: "provider.close", organizationId: null, target: name, before };
    await on.breakers.close(name, auditLine(line, on.clock.nowMs()));
    return await providerRow(on, name);
  },
});
