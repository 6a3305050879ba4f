// What only the operator API, the dashboard and payment webhooks refuse, beside the rows of `refusals.ts` that they
// share with `/v1`. `docs/errors.md` is compared with it.

export const OPERATOR_REFUSALS = {
  /** No record of that id. */
  not_found: 404,
  /** The record exists, but its state or an earlier call forbids the change. */
  conflict: 409,
  /** The change was made on a version that the row no longer has: somebody else was faster. */
  changed_meanwhile: 409,
  /** A release that cannot be accepted: signature, trust, version, expiry or manifest. */
  release_refused: 422,
  /** The dashboard: nobody is signed in, or the session has ended. */
  not_signed_in: 401,
  /** This role may not do it. */
  role_not_permitted: 403,
  /** A change that does not come from our own pages. */
  origin_not_allowed: 403,
  /** Nobody approves what they asked for themselves. */
  second_person_required: 403,
  /** The organization asks its members for a second factor. */
  two_factor_required: 403,
  /** The session is too old for money, keys and people. */
  sign_in_again: 403,
  /** A one-time link that was used, has expired or never was. */
  link_not_valid: 410,
  /** This gateway runs without it; its operator can switch it on. */
  not_configured: 501,
  /** The payment service did not answer or refused our call; the same form may be sent again. */
  payment_service_unavailable: 503,
  /** A delivery to `/webhooks` with a bad or old signature, or no event at all. */
  webhook_not_verified: 400,
  /** A genuine event that contradicts our order; nothing was credited. */
  webhook_event_refused: 422,
  /** A genuine event that came before the one it follows; deliver it again. */
  webhook_event_too_early: 409,
} as const;

export type OperatorRefusalCode = keyof typeof OPERATOR_REFUSALS;

/** What a release is checked for before it can go live, in this order; a refused one names the step that failed. */
export const RELEASE_STEPS = ["signature", "version", "expiry"] as const;
export type ReleaseStep = (typeof RELEASE_STEPS)[number];

/** An operator's call that was refused; nothing was changed. */
export class OperatorRefusal extends Error {
  readonly status: number;
  readonly type: "invalid_request_error" | "permission_error";

  constructor(
    readonly code: OperatorRefusalCode,
    message: string,
    readonly param: string | null = null,
    /** Of a release that was refused. */
    readonly step: ReleaseStep | null = null,
  ) {
    super(message);
    this.name = "OperatorRefusal";
    this.status = OPERATOR_REFUSALS[code];
    this.type = this.status === 403 ? "permission_error" : "invalid_request_error";
  }
}
