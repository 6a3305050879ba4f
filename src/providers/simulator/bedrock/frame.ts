// One message of `application/vnd.amazon.eventstream`, as Bedrock sends it.

const PRELUDE = 12;
const CHECKSUM = 4;
const TEXT = 7;

function header(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)];
  const size = Buffer.alloc(2);
  size.writeUInt16BE(text.length);
  return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([TEXT]), size, text]);
}

/** Returns headers and payload between their lengths and their checksums. */
export function message(headers: Record<string, string>, payload: string | Buffer): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(payload);
  const bytes = Buffer.alloc(PRELUDE + head.length + body.length + CHECKSUM);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(head.length, 4);
  bytes.writeUInt32BE(Bun.hash.crc32(bytes.subarray(0, 8)), 8);
  head.copy(bytes, PRELUDE);
  body.copy(bytes, PRELUDE + head.length);
  const end = bytes.length - CHECKSUM;
  bytes.writeUInt32BE(Bun.hash.crc32(bytes.subarray(0, end)), end);
  return bytes;
}

export const eventFrame = (type: string, payload: unknown): Buffer =>
  message(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    JSON.stringify(payload),
  );

export const exceptionFrame = (type: string, payload: unknown): Buffer =>
  message(
    { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" },
    JSON.stringify(payload),
  );
