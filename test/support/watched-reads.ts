// Watches what a gateway in this process reads for pages, on either store, and can hold it back between two statements.
import pg from "pg";
import type { Store } from "./gateway.ts";
import { gate, type ReadingThread, watchReadingThread } from "./reading-thread.ts";

/** To be called before the gateway starts. */
export const watchReads = (store: Store): ReadingThread =>
  store === "sqlite" ? watchReadingThread() : watchPages();

type Ask = (text: string, values: unknown[]) => Promise<unknown>;

/** The same for the connections that read on PostgreSQL. */
function watchPages(): ReadingThread {
  const pools = pg.Pool.prototype as unknown as { query: Ask };
  const inherited = pools.query;
  const asked: { text: string; values: readonly unknown[] }[] = [];
  const { hold, goOn, pass } = gate();
  pools.query = async function (this: { options: { application_name?: string } }, text, values) {
    if (this.options.application_name !== "tollgate pages") return await inherited.call(this, text, values);
    asked.push({ text, values });
    await new Promise<void>(pass);
    return await inherited.call(this, text, values);
  } as Ask;
  return {
    asked,
    hold,
    goOn,
    stop: () => {
      goOn();
      pools.query = inherited;
    },
  };
}
