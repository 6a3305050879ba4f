// The names of the kinds of ledger entries, on every page that shows one.
export const entryKindNames = {
  hold: "hold",
  lower: "hold lowered",
  charge: "charge",
  rest: "returned",
  void: "released",
  variance: "variance",
  purchase: "purchase",
  grant: "grant",
  debt_paid: "debt paid",
  refund: "refund",
  chargeback: "chargeback",
  chargeback_debt: "chargeback, owed",
} as const;
