// Why a release is not accepted: one class with a closed list of reasons. Messages are written for operators.

export type ReleaseErrorReason =
  | "malformed" // not a compact JWS, or its parts are not JSON
  | "algorithm" // anything but EdDSA
  | "type" // `typ` is not gw-release+jwt
  | "unknown_key" // `kid` is not among the trusted keys
  | "signature"
  | "claims" // iss, sub, ver, iat, exp missing or contradicting the manifest
  | "expired"
  | "manifest" // the manifest breaks a rule; `path` names the field
  | "rolled_back"; // a version at or below the highest ever stored for the route

export class ReleaseError extends Error {
  constructor(
    readonly reason: ReleaseErrorReason,
    message: string,
    /** The invalid field, such as `pricing.input_per_million`; null if no single field is. */
    readonly path: string | null = null,
  ) {
    super(message);
    this.name = "ReleaseError";
  }
}
