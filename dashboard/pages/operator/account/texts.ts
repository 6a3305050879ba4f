export const operatorAccountTexts = {
  lead: "Your own account at this gateway: how you sign in, and how times are shown.",
} as const;
