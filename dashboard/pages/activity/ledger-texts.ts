import { counted } from "../../format/count.ts";

export const ledgerTexts = {
  title: "Ledger entries",
  entry: (n: string) => `#${n}`,
  booked: "Booked",
  shared: (requests: string) => `one of ${counted(requests, "request")}`,
  none: "This request moved no credits.",
  verify: "Verify this charge",
  again: "Verify again",
  verifying: "Verifying",
  about:
    "Your browser checks it against the signed release, the signed receipt and the ledger's entries; nothing is taken on our word.",
  insecure: "Browsers check signatures and hashes only on pages served over https.",
  follow: (left: string) => `Follow the chain to its head (${counted(left, "entry", "entries")})`,
  reached: (n: string, head: string) => `#${n} of #${head}`,
  verdicts: {
    holds: "Every step holds.",
    broken: "Something does not hold: see the step marked ✗.",
    open: "Nothing contradicts the charge, but not every step could be checked.",
  },
  holds: "holds",
  broken: "does not hold",
  unsure: "could not be checked",
  columns: { what: "What", stated: "Stated", found: "Worked out" },
  release: "Download the signed release",
} as const;
