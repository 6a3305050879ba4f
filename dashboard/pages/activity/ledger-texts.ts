export const ledgerTexts = {
  title: "Ledger entries",
  entry: (n: string) => `#${n}`,
  booked: "Booked",
  shared: (requests: string) => `one of ${requests} requests`,
  none: "This request moved no credits.",
  verify: "Verify this charge",
  again: "Verify again",
  verifying: "Verifying",
  about:
    "Checked by your browser from the signed release, the signed receipt and the ledger's entries: nothing of it is taken on our word.",
  insecure: "Your browser checks signatures and hashes only on pages that came by https.",
  verdicts: {
    holds: "Every step holds.",
    broken: "Something does not hold: see the step that is marked ✗.",
    open: "Nothing contradicts the charge, but not every step could be checked.",
  },
  holds: "holds",
  broken: "does not hold",
  unsure: "could not be checked",
  columns: { what: "What", stated: "Stated", found: "Worked out" },
  release: "Download the signed release",
} as const;
