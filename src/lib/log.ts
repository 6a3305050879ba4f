// JSON lines on stderr, written in batches; secrets and content never reach it (S36).
import pino from "pino";
import { CREDENTIAL_HEADER_NAMES } from "../domain/credential.ts";

export type Log = pino.Logger;

/** Of a line itself, and of what is below it. */
const SECRET_HEADERS = [...CREDENTIAL_HEADER_NAMES, "cookie", "set-cookie"];
const REDACTED = [
  ...["", "*", "*.*"].flatMap((above) => SECRET_HEADERS.map((name) => `${above}["${name}"]`)),
  "*.secret",
  "*.api_key",
  "*.content",
  "*.messages",
];

/** `level`: trace | debug | info | warn | error | fatal | silent. */
export function createLog(level: string, destination: pino.DestinationStream = stderr()): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: REDACTED,
    },
    destination,
  );
}

const stderr = (): pino.DestinationStream =>
  pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 1000 });
