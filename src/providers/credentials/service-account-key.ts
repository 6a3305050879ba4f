// `service_account`: the key file of a Google service account, given by its path or as its JSON text. It is fully
// checked when the settings are read, so that a gateway that could never authenticate does not start. The private key
// is held as a key object, which no log and no settings page can print.
import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { z } from "zod";
import { readJson } from "../http/json.ts";
import { isTokenUri } from "./oauth.ts";

export interface ServiceAccountKey {
  /** The caller: `client_email`. */
  email: string;
  keyId: string | null;
  /** The project that the account belongs to; calls may name another one. */
  project: string | null;
  tokenUri: string;
  privateKey: KeyObject;
}

const FILE_BYTES_MAX = 64 * 1024;
/** The signer rejects smaller keys. */
const RSA_BITS_MIN = 2048;

const keyFile = z.object({
  type: z.literal("service_account", 'has a type that is not "service_account"'),
  client_email: z.string("lacks client_email").regex(/^[^\s@]{1,256}@[^\s@]{1,256}$/, "has no client_email"),
  private_key: z.string("lacks private_key").transform((pem, context) => {
    const key = rsaKeyOf(pem);
    if (key === null)
      context.addIssue(`has a private_key that is not an RSA key of at least ${RSA_BITS_MIN} bits in PEM`);
    return key ?? z.NEVER;
  }),
  private_key_id: z.string().max(256).optional(),
  project_id: z.string().max(256).optional(),
  token_uri: z
    .string("lacks token_uri")
    .refine(isTokenUri, "has a token_uri that is not an https:// address"),
});

function rsaKeyOf(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    return key.asymmetricKeyType === "rsa" && bits >= RSA_BITS_MIN ? key : null;
  } catch {
    return null; // its message quotes a secret at worst and OpenSSL at best
  }
}

/** The setting, parsed and checked at once. No complaint quotes a word of the file. */
export const serviceAccount = z
  .string()
  .min(1, "must not be empty")
  .transform((given, context) => {
    const read = readKey(given);
    if (typeof read !== "string") return read;
    context.addIssue(read);
    return z.NEVER;
  })
  .describe(
    "A Google service account: the absolute path of its JSON key file, or the file's text as ${NAME}.",
  );

const REMEDY = "Create a JSON key for the service account and name that file, or give its text as ${NAME}.";

/** Returns the key, or the complaint about it. */
function readKey(given: string): ServiceAccountKey | string {
  const inline = given.trimStart().startsWith("{");
  if (!inline && !isAbsolute(given))
    return "must be the absolute path of a service account's JSON key file, or its text as ${NAME}";
  const from = inline ? "the given text" : given;
  const text = inline ? given : fileText(given);
  if (text === null) return `${from} cannot be read. ${REMEDY}`;
  const parsed = keyFile.safeParse(readJson(text), { error: () => "is not a JSON object" });
  if (!parsed.success)
    return `${from} is not a service account key: it ${parsed.error.issues[0]?.message}. ${REMEDY}`;
  const { client_email, private_key, private_key_id, project_id, token_uri } = parsed.data;
  return {
    email: client_email,
    keyId: private_key_id ?? null,
    project: project_id ?? null,
    tokenUri: token_uri,
    privateKey: private_key,
  };
}

function fileText(path: string): string | null {
  try {
    const bytes = readFileSync(path);
    return bytes.byteLength > FILE_BYTES_MAX ? null : bytes.toString("utf8");
  } catch {
    return null;
  }
}
