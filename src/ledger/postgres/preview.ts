// Decides an admission as of now, with the rows and rules of COMMIT 1 but without a lock, and keeps nothing.
import type { DecidedAdmission } from "../decide/admission.ts";
import { decide, type MoneyOperation } from "../decide/decide.ts";
import type { CommitPorts } from "./commit.ts";
import { type AskTogether, loadRows } from "./load.ts";
import { type Asking, askNamed } from "./query.ts";

/** Throws what its decision would throw. */
export async function previewAdmission(
  operation: Extract<MoneyOperation, { kind: "admit" }>,
  on: Asking,
  ports: CommitPorts,
): Promise<DecidedAdmission> {
  const { stamps, databaseClock, rates, days, own, retention } = ports;
  const aboutMs = (stamps ?? databaseClock).nowMs();
  const asked: AskTogether = (questions) =>
    Promise.all(questions.map(({ statement, values }) => askNamed(on, statement, [...values])));
  const asking = { ask: asked, askMore: asked };
  const terms = { epoch: null, aboutMs, rates, days, own };
  const { rows, databaseNowMs } = await loadRows(asking, [operation], terms);
  const [first] = decide(rows, [operation], {
    nowMs: stamps?.nowMs() ?? databaseNowMs ?? aboutMs,
    txn: 0,
    epoch: ports.epoch(),
    retention,
    rateDefaults: rates.defaults,
    isStopped: ports.isStopped,
  }).decided;
  if (first?.kind !== "outcome") throw first?.error ?? new Error("a preview was not decided");
  return first.outcome as DecidedAdmission;
}
