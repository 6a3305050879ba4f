// Which gateway a client turns to: each sending of a request goes to the next one, so that duplicates and retries land
// elsewhere. One that is away is met for a moment and then passed over, as a load balancer would.
import type { GatewayProcess } from "./gateway-process.ts";

/** Plans meet the beginning of an absence, not all of it: knocking at a closed door for seconds finds nothing. */
export const OUTAGE_MET_MS = 250;

export class ClientBalancer {
  private readonly sent = new Map<number, number>();

  constructor(private readonly gateways: readonly GatewayProcess[]) {}

  /** For the next sending of this request of the plan. */
  next(request: number): GatewayProcess {
    const nth = this.sent.get(request) ?? 0;
    this.sent.set(request, nth + 1);
    return this.from(request + nth);
  }

  /** This one, or the first after it that is there. */
  from(number: number): GatewayProcess {
    const { gateways } = this;
    const inTurn = gateways.map((_, n) => gateways[(number + n) % gateways.length]);
    const open = inTurn.find((gateway) => gateway !== undefined && gateway.awayForMs < OUTAGE_MET_MS);
    const door = open ?? inTurn[0];
    if (door === undefined) throw new Error("no gateways");
    return door;
  }
}
