export const signInTexts = {
  title: "Sign in",
  lead: "Keys, usage and credits of your organization.",
  email: "Email",
  password: "Password",
  submit: "Sign in",
  passkey: "Sign in with a passkey",
  or: "or",
  secondLead: "This account asks for a second factor.",
  backupCode: "Backup code",
  backupHelp: "One of the codes you stored when you set up the second factor. Each works once.",
  useBackup: "Use a backup code instead",
  useApp: "Use the authenticator app instead",
  startAgain: "Start again",
  lost: "No account yet? An owner of your organization can invite you. Operators: the first sign-in link is in the terminal that started the gateway.",
  with: (name: string) => `Sign in with ${name}`,
  returned: {
    access_denied: "The sign-in was declined by your company's service.",
    signup_disabled:
      "Nobody has invited this address yet. Ask an owner of your organization for an invitation.",
    account_not_linked:
      "Your company's service does not vouch for this address, or the address belongs to another account.",
    state_mismatch: "The sign-in took too long or was started in another browser. Start again.",
    state_not_found: "The sign-in took too long or was started in another browser. Start again.",
  },
  returnedOther: "Your company's sign-in could not be used. Try again, or give the operator this code.",
} as const;
