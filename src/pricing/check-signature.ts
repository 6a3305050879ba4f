// Signatures and digests with WebCrypto, which browsers and the command line share: checking a charge needs no server.

const encoder = new TextEncoder();
const EDDSA = "EdDSA";

/** The public half of an Ed25519 key, as JWK. */
export interface PublicKey {
  kid: string;
  kty: "OKP";
  crv: "Ed25519";
  x: string;
}

/** True if this browser can check anything at all: it cannot on a page loaded over plain http. */
export const canCheck = (): boolean => (globalThis.crypto as Crypto | undefined)?.subtle !== undefined;

/** Returns lower-case hex. */
export async function sha256(...parts: (string | Uint8Array)[]): Promise<string> {
  const bytes = parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part));
  const all = new Uint8Array(bytes.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of bytes) {
    all.set(part, at);
    at += part.length;
  }
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", all)));
}

const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Returns the bytes of an even number of hex digits. */
export const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (sign) => sign.charCodeAt(0));
}

/** Decodes a compact JWS without verifying it; null if it is not one. */
export function openJws(
  jws: string,
): { header: Record<string, unknown>; payload: Record<string, unknown> } | null {
  const [header = "", payload = "", ...rest] = jws.split(".");
  if (rest.length !== 1) return null;
  try {
    const read = (part: string): Record<string, unknown> =>
      JSON.parse(new TextDecoder().decode(fromBase64Url(part))) as Record<string, unknown>;
    return { header: read(header), payload: read(payload) };
  } catch {
    return null; // the caller reports that it is not a JWS
  }
}

/** True if the key signed it, with EdDSA and nothing else. Null if this browser does not support Ed25519. */
export async function signedBy(jws: string, key: PublicKey): Promise<boolean | null> {
  const [header = "", payload = "", signature = ""] = jws.split(".");
  if (openJws(jws)?.header["alg"] !== EDDSA) return false;
  const { kty, crv, x } = key;
  const imported = await crypto.subtle
    .importKey("jwk", { kty, crv, x }, { name: crv }, false, ["verify"])
    .catch((error: unknown) => {
      if (error instanceof DOMException && error.name === "NotSupportedError") return null;
      throw error;
    });
  if (imported === null) return null;
  try {
    const message = encoder.encode(`${header}.${payload}`);
    return await crypto.subtle.verify(crv, imported, fromBase64Url(signature), message);
  } catch {
    return false; // a signature that is not base64
  }
}
