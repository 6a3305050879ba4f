// JSON lines on stderr, written in batches; secrets and content never reach it (S36).
import pino from "pino";
import { CREDENTIAL_HEADERS } from "../domain/credential.ts";
import { messageOf } from "../domain/error-message.ts";
import { printTime } from "../domain/print.ts";
import { LineBuffer } from "./line-buffer.ts";
import { within } from "./within.ts";

export interface Log extends pino.Logger {
  /** The raw output; code that writes here checks the level itself and must not write secrets. */
  readonly lines: pino.DestinationStream;
}

const WRITTEN_WITHIN_MS = 1_000;

/** Redacted in a line itself and in objects below it. */
const SECRET_HEADERS = [...CREDENTIAL_HEADERS, "cookie", "set-cookie"];
const REDACTED = [
  ...["", "*", "*.*"].flatMap((above) => SECRET_HEADERS.map((name) => `${above}["${name}"]`)),
  "*.secret",
  "*.api_key",
  "*.content",
  "*.messages",
];

/** Reported when the reader was gone for too long. Formatted like the log's own lines. */
const missed = (lines: number): string =>
  `{"level":40,"time":"${printTime(Date.now())}","lines":${lines},"msg":"lines of this log were lost: its reader was too slow"}\n`;

const stderr = new LineBuffer(2, missed);
process.once("exit", () => stderr.flushSync());

/** `level`: trace | debug | info | warn | error | fatal | silent. */
export function createLog(level: string, lines: pino.DestinationStream = stderr): Log {
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: REDACTED,
      serializers: { err: printedError },
    },
    lines,
  );
  return Object.assign(log, { lines });
}

/** Bun's failure to load a module is an error whose own fields cannot be serialized. */
function printedError(error: unknown): unknown {
  const shown: unknown = pino.stdSerializers.err(error as Error);
  try {
    JSON.stringify(shown);
    return shown;
  } catch {
    return { message: messageOf(error) };
  }
}

/**
 * Resolves when every line up to now is written, or after a second, so that a stalled reader blocks nobody.
 */
export const written = (log: Log): Promise<unknown> =>
  within(new Promise<void>((resolve) => log.flush(() => resolve())), WRITTEN_WITHIN_MS);
