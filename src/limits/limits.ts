// The limits of one gateway process, built from its settings and kept in memory: how many calls it runs at the same
// time, and the memory for bodies of all APIs, for large prompts and for large answers. The ledger limits callers
// across all gateways (`ledger/decide/rate.ts`).
import type { Clock } from "../lib/clock.ts";
import { totalmem } from "node:os";
import { ANSWER_BYTES_MAX } from "../domain/answer-size.ts";
import { Concurrency } from "./concurrency.ts";
import { LargeAnswers } from "./large-answers.ts";
import { promptBytesIn, Prompts } from "./prompts.ts";
import { Uploads } from "./uploads.ts";

interface LimitSettings {
  maxConcurrent: number;
  organizationSharePercent: number;
  uploadBytes: number;
  bodyBytes: number;
  answerBytes: number;
  /** Null: derived from the available memory. */
  promptBytes: number | null;
}

interface LimitPorts {
  clock: Pick<Clock, "monotonicMs">;
  /** Called for each refusal with the setting's name as operators write it. */
  refused: (limit: string) => void;
}

export interface Limits {
  calls: Concurrency;
  uploads: Uploads;
  answers: LargeAnswers;
  prompts: Prompts;
}

export const openLimits = (settings: LimitSettings, { clock, refused }: LimitPorts): Limits => ({
  calls: new Concurrency({
    inProcess: settings.maxConcurrent,
    sharePercent: settings.organizationSharePercent,
    clock,
    refused,
  }),
  uploads: new Uploads({ totalBytes: settings.uploadBytes, bodyBytes: settings.bodyBytes, refused }),
  answers: new LargeAnswers({ totalBytes: settings.answerBytes, bodyBytes: ANSWER_BYTES_MAX, refused }),
  prompts: new Prompts({
    totalBytes: settings.promptBytes ?? promptBytesIn(memoryBytes()),
    bodyBytes: settings.bodyBytes,
    refused,
  }),
});

/** Memory of this machine, or of the container. */
const memoryBytes = (): number => Math.min(process.constrainedMemory() || totalmem(), totalmem());
