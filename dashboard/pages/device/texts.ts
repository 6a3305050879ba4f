import { counted } from "../../format/count.ts";

export const deviceTexts = {
  title: "Log in to the command line",
  lead: "Type the code that ./tollgate login shows in your terminal, or compare it with the one here.",
  code: "Code",
  codeHelp: "Eight letters. It works once, for ten minutes.",
  find: "Continue",
  decideLead: "This terminal asks to operate this gateway on your behalf.",
  host: "Host",
  address: "Address",
  version: "Version",
  askedAt: "Asked",
  gets: "It would get",
  key: (name: string, days: number) =>
    `The management key “${name}”, for ${counted(days, "day")}. It may do everything that an operator may.`,
  onlyYours:
    "Approve only if you ran ./tollgate login yourself a moment ago. Nobody has a reason to send you a code.",
  back: "Use another code",
  approve: "Approve",
  decline: "Decline",
  approved: (name: string) =>
    `Approved. The terminal continues by itself; its key is “${name}” on the People page, where it can be revoked.`,
  declined: "Declined. The terminal got nothing.",
  toKeys: "Management keys",
  forOperators: (email: string) =>
    `The command line operates the whole gateway, so this page is for operators. You are signed in as ${email}, who is not an operator: ask one to run the command, or to invite you as an operator.`,
} as const;
