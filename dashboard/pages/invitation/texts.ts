export const invitationTexts = {
  title: "Join an organization",
  lead: (org: string, role: string) => `You are invited to ${org} as ${role}.`,
  accept: "Join",
  signIn: "Sign in to join",
  hasAccount: "This address already has an account. Sign in with it to join.",
  home: "Already joined? Sign in",
  noLink: "This page needs the complete invitation link. Copy it from the message again.",
} as const;
