export const operatorRequestsTexts = {
  lead: "Requests of every organization, newest first: by what became of them, or one of them by its id.",
  organization: "Organization",
  empty: "Nobody has sent a request in this time.",
  lookedBack: (time: string) =>
    `Looked back as far as ${time}: a page goes through 5,000 requests at most. What is older is on the next one.`,
  further: "Look further back",
  noSuch: "No organization has a request of this id.",
} as const;
