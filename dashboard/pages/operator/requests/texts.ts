export const operatorRequestsTexts = {
  lead: "Requests of every organization, newest first. Filter by outcome, or find one by its id.",
  organization: "Organization",
  empty: "Nobody has sent a request in this time.",
  lookedBack: (time: string) =>
    `Searched back to ${time}: a page covers at most 5,000 requests. Older ones are on the next page.`,
  further: "Search further back",
  noSuch: "No organization has a request with this id.",
} as const;
