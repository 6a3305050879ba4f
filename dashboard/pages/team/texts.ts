import { counted } from "../../format/count.ts";

export const teamTexts = {
  lead: "Who belongs to this organization, and what each person may do.",
  members: "Members",
  search: "Search members",
  roles: {
    owner: "Owner",
    admin: "Admin",
    billing: "Billing",
    developer: "Developer",
    viewer: "Viewer",
  },
  roleHelp: {
    owner: "Everything, including buying credits and making other people owners.",
    admin:
      "All keys, the team except owners, alerts, settings and Research Mode. Sees billing, buys nothing.",
    billing: "Buys credits and sets alerts. Sees keys and usage.",
    developer: "Creates and revokes own keys, uses the playground, requests Research Mode.",
    viewer: "Sees usage, activity, keys and models. Changes nothing.",
  },
  columns: {
    member: "Member",
    role: "Role",
    twoFactor: "Second factor",
    lastSeen: "Last seen",
    joined: "Joined",
    keys: "Keys",
    month: "This month",
    actions: "Actions",
  },
  you: "you",
  on: "on",
  off: "off",
  menu: (email: string) => `Actions for ${email}`,
  changeRole: "Change role",
  changeRoleTitle: (email: string) => `Role of ${email}`,
  changeRoleHelp: "Takes effect at once and signs this person out everywhere.",
  changeOwnRoleHelp:
    "Takes effect at once and signs you out everywhere. You may not be able to undo it yourself.",
  remove: "Remove",
  removeTitle: (email: string) => `Remove ${email}`,
  removeHelp:
    "This person loses access to the organization at once, and invitations they sent stop working. Their account and past usage stay.",
  leave: "Leave",
  leaveTitle: (organization: string) => `Leave ${organization}`,
  leaveHelp: "You lose access to the organization at once. You can come back only by invitation.",
  keysOf: (count: number, name: string) => `${counted(count, "key")} of ${name}`,
  keysStay: (count: number) =>
    count === 0
      ? "This person has no active keys here."
      : `${counted(count, "active key")} of this person ${count === 1 ? "keeps" : "keep"} working until revoked on the keys page.`,
  lastOwner: "The last owner cannot leave. Make someone else an owner first.",
  invite: "Invite",
  inviteTitle: (organization: string) => `Invite to ${organization}`,
  email: "Email",
  emailHelp: "The link works once, for seven days, and only with this address.",
  role: "Role",
  invitations: "Open invitations",
  noInvitations: "No invitation is open.",
  invitedBy: "Invited by",
  expires: "Expires",
  withdraw: "Withdraw",
  withdrawFor: (email: string) => `Withdraw the invitation of ${email}`,
  withdrawHelp: "The link stops working. The address can be invited again.",
  linkTitle: (email: string) => `Invitation for ${email}`,
  sendLink: "Send this link to the person yourself.",
} as const;
