// The steps by which a charge is verified, and what each of them says, in the same words on the dashboard and the command line.

export const VERIFICATION_STEPS = [
  "release",
  "prices",
  "receipt",
  "arithmetic",
  "hold",
  "entries",
  "chain",
] as const;
export type VerificationStep = (typeof VERIFICATION_STEPS)[number];

/** A stated figure next to the computed one. */
export interface Check {
  what: keyof typeof CHECK_WORDS;
  /** Which of several: a class of tokens, a price, an entry. */
  of?: string;
  /** How it was computed. */
  by?: string;
  stated: string;
  found: string;
  /** Null: it could not be checked. */
  holds: boolean | null;
}

/** One step with all its checks; `holds` is null if the step could not be checked, which proves nothing. */
export interface VerifiedStep {
  name: VerificationStep;
  holds: boolean | null;
  checks: readonly Check[];
}

export const STEP_WORDS: Readonly<Record<VerificationStep, { title: string; broken: string }>> = {
  release: {
    title: "The price list is signed",
    broken:
      "The release that this charge names is not the one that was signed, or its signer is not trusted by this gateway. Do not accept its prices.",
  },
  prices: {
    title: "The receipt's prices are the signed ones",
    broken: "The receipt does not use the prices that were signed.",
  },
  receipt: {
    title: "The receipt is signed",
    broken: "The receipt was changed after it was signed, or it belongs to another request.",
  },
  arithmetic: {
    title: "The charge follows from tokens and prices",
    broken: "Tokens times signed prices do not give the charge that was made.",
  },
  hold: {
    title: "The charge is within the hold",
    broken: "More was charged than was held, or the rest of the hold was not returned.",
  },
  entries: {
    title: "The ledger booked this charge",
    broken:
      "The ledger booked another amount than the receipt says, or an entry was changed after it was written: its hash no longer matches its figures.",
  },
  chain: {
    title: "The chain of entries is unbroken",
    broken: "An entry was changed, removed or inserted after the fact. Ask for the ledger to be audited.",
  },
};

export const CHECK_WORDS = {
  key: "signer's key",
  type: "kind of document",
  digest: "SHA-256 of the release",
  signature: "signature",
  route: "route",
  version: "version",
  price: "price",
  request: "request",
  organization: "organization",
  contents: "what was signed",
  line: "cost:",
  minimum: "minimum applied",
  above_hold: "above the hold, paid by the platform",
  charge: "charge",
  shown: "charge as this page shows it",
  answer: "what the answer said",
  hold: "charge, at most the hold",
  returned: "returned",
  part: "booked for this request",
  sum: "entry is the sum of its requests",
  hash: "hash of the entry",
  links: "each follows from the one before",
  in_chain: "the request's entries are in it",
  head: "head of the chain",
  further: "entries on to the head",
} as const;

/** Words shown in place of a figure. */
export const FOUND_WORDS: Readonly<Record<string, string>> = {
  unable: "cannot be checked here",
  untrusted: "the signer's key is no longer trusted",
  operator: "charged by an operator's decision, not by tokens",
};
