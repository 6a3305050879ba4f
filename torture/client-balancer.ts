// Chooses the gateway for each sending of a request: always the next one, so that duplicates and retries land
// elsewhere. A gateway that is away still gets requests for a moment and is then skipped, as a load balancer would
// do.
import type { GatewayProcess } from "./gateway-process.ts";

/** Requests hit only the beginning of an absence: seconds of refused connections would find nothing. */
export const OUTAGE_MET_MS = 250;

export class ClientBalancer {
  private readonly sent = new Map<number, number>();

  constructor(private readonly gateways: readonly GatewayProcess[]) {}

  /** The gateway for the next sending of this planned request. */
  next(request: number): GatewayProcess {
    const nth = this.sent.get(request) ?? 0;
    this.sent.set(request, nth + 1);
    return this.from(request + nth);
  }

  /** This gateway, or the first available one after it. */
  from(number: number): GatewayProcess {
    const { gateways } = this;
    const inTurn = gateways.map((_, n) => gateways[(number + n) % gateways.length]);
    const open = inTurn.find((gateway) => gateway !== undefined && gateway.awayForMs < OUTAGE_MET_MS);
    const door = open ?? inTurn[0];
    if (door === undefined) throw new Error("no gateways");
    return door;
  }
}
