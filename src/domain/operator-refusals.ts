// Refusals that only the operator API, the dashboard and payment webhooks have, in addition to the rows of `refusals.ts` that they
// share with `/v1`. `docs/errors.md` is compared with it.

export const OPERATOR_REFUSALS = {
  /** No record with that id. */
  not_found: 404,
  /** The record exists, but its state or an earlier call does not allow the change. */
  conflict: 409,
  /** The change was based on a version that the row no longer has: somebody else changed it first. */
  changed_meanwhile: 409,
  /** A release that cannot be accepted: its signature, trust, version, expiry or manifest. */
  release_refused: 422,
  /** On the dashboard: nobody is signed in, or the session has ended. */
  not_signed_in: 401,
  /** The role may not do this. */
  role_not_permitted: 403,
  /** A change that did not come from our own pages. */
  origin_not_allowed: 403,
  /** Nobody approves their own request. */
  second_person_required: 403,
  /** The organization requires a second factor of its members. */
  two_factor_required: 403,
  /** The session is too old for changes to money, keys and people. */
  sign_in_again: 403,
  /** A one-time link that was used, has expired or never existed. */
  link_not_valid: 410,
  /** This gateway runs without the feature; its operator can switch it on. */
  not_configured: 501,
  /** The payment service did not answer or refused our call; the same form may be sent again. */
  payment_service_unavailable: 503,
  /** A delivery to `/webhooks` with a bad or old signature, or that is not an event. */
  webhook_not_verified: 400,
  /** A genuine event that contradicts our order; nothing was credited. */
  webhook_event_refused: 422,
  /** A genuine event that arrived before the one it follows; deliver it again. */
  webhook_event_too_early: 409,
} as const;

export type OperatorRefusalCode = keyof typeof OPERATOR_REFUSALS;

/** The checks of a release before it can go live, in this order. A refusal names the step that failed. */
export const RELEASE_STEPS = ["signature", "version", "expiry"] as const;
export type ReleaseStep = (typeof RELEASE_STEPS)[number];

/** A refused operator call; nothing was changed. */
export class OperatorRefusal extends Error {
  readonly status: number;
  readonly type: "invalid_request_error" | "permission_error";

  constructor(
    readonly code: OperatorRefusalCode,
    message: string,
    readonly param: string | null = null,
    /** The failed step, if a release was refused. */
    readonly step: ReleaseStep | null = null,
  ) {
    super(message);
    this.name = "OperatorRefusal";
    this.status = OPERATOR_REFUSALS[code];
    this.type = this.status === 403 ? "permission_error" : "invalid_request_error";
  }
}
