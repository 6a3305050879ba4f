export const resetTexts = {
  title: "Set a new password",
  lead: "The link works once, within an hour of being created.",
  password: "New password",
  save: "Set the password",
  done: "The password is set. Sign in with it.",
  signIn: "Sign in",
  noLink: "This page needs the complete link. An operator can create a new one.",
} as const;
