export const invitationTexts = {
  title: "Join an organization",
  lead: (org: string, role: string) => `You are invited to ${org} as ${role}.`,
  accept: "Join",
  signIn: "Sign in to join",
  hasAccount: "This address has an account already. Sign in with it to join.",
  home: "Joined already? Sign in",
  noLink: "This page needs the whole link of the invitation. Copy it from the message once more.",
} as const;
