export const operatorRequestsTexts = {
  lead: "Requests of every organization, newest first. Filter by outcome, or find one by its id.",
  organization: "Organization",
  empty: "Nobody has sent a request in this time.",
  noSuch: "No organization has a request with this id.",
} as const;
