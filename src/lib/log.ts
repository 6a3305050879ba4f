// JSON lines on stderr, written in batches; secrets and content never reach it (S36).
import pino from "pino";

export type Log = pino.Logger;

/** `level`: trace | debug | info | warn | error | fatal | silent. */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: [
        "authorization",
        "cookie",
        "*.authorization",
        "*.cookie",
        "*.secret",
        "*.api_key",
        "*.content",
        "*.messages",
      ],
    },
    pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 1000 }),
  );
}
