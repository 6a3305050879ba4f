// The base of a store's conformance tables: its ledger with a world of its own, newly opened for each topic.
import { expect } from "bun:test";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { testClock } from "../../support/clock.ts";
import { type KeyInHand, type OpenLedger, type Opened, World } from "../world.ts";

/** `opened`, `ledger` and `world` exist from `begin` on; `finish` expects a ledger that verifies. */
export class Harness {
  readonly clock = testClock();
  opened!: Opened;
  ledger!: Ledger;
  world!: World;

  constructor(
    /** The prefix of its tests' names. */
    readonly store: string,
    private readonly open: OpenLedger,
  ) {}

  readonly begin = async (): Promise<void> => {
    this.opened = await this.open(this.clock);
    this.ledger = this.opened.ledger;
    this.world = new World(this.ledger);
    await this.world.publish();
  };

  readonly finish = async (): Promise<void> => {
    const report = await this.world.ledger.verify();
    // Clocks jump by years here; a timer sweeps expired rows away at its own pace.
    const standing = report.violations.filter(({ invariant }) => !invariant.startsWith("I17"));
    expect(standing).toEqual([]);
    await this.opened.close();
  };

  /** A key of a new organization with so many dollars. */
  async customer(
    dollars: number,
    terms: { limit?: number; scope?: "standard" | "research" } = {},
  ): Promise<KeyInHand> {
    return this.world.key(await this.world.organization(dollars), terms);
  }
}
