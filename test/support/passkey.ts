// A passkey as a device keeps one (WebAuthn): a key pair that signs who asks, for what, and that the user was
// verified.
import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import type { Answer, Browser } from "./browser.ts";

const sha256 = (bytes: string | Buffer): Buffer => createHash("sha256").update(bytes).digest();
/** User present and verified. */
const FLAGS = 0x05;

export class Passkey {
  readonly credentialId = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64url");
  /** As the server stores it: COSE, an EC2 key for ES256 on P-256, in base64. */
  readonly publicKey: string;
  private readonly privateKey: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    this.privateKey = privateKey;
    const at = (text: string): Buffer => Buffer.from(text, "base64url");
    const head = Buffer.from("a5010203262001215820", "hex");
    this.publicKey = Buffer.concat([head, at(x), Buffer.from("225820", "hex"), at(y)]).toString("base64");
  }

  /** Signs in with it, at a gateway on this machine. */
  async signIn(browser: Browser): Promise<Answer<{ error?: { code: string } }>> {
    const asked = await browser.send<{ challenge: string; rpId: string }>(
      "GET",
      "/auth/passkey/generate-authenticate-options",
    );
    const { challenge, rpId } = asked.json;
    const client = JSON.stringify({ type: "webauthn.get", challenge, origin: browser.origin });
    const data = Buffer.concat([sha256(rpId), Buffer.from([FLAGS, 0, 0, 0, 0])]);
    const signature = sign("sha256", Buffer.concat([data, sha256(client)]), this.privateKey);
    const response = {
      authenticatorData: data.toString("base64url"),
      clientDataJSON: Buffer.from(client).toString("base64url"),
      signature: signature.toString("base64url"),
    };
    return await browser.send("POST", "/auth/passkey/verify-authentication", {
      response: {
        id: this.credentialId,
        rawId: this.credentialId,
        type: "public-key",
        clientExtensionResults: {},
        response,
      },
    });
  }
}
