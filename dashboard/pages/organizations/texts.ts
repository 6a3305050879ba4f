import { counted } from "../../format/count.ts";

export const organizationsTexts = {
  lead: "Every organization of this gateway, with its credits and spending. A name opens its pages as its members see them.",
  create: "Create organization",
  name: "Name",
  nameHelp: "Members see this name, and it appears on receipts.",
  search: "Search by name or full id",
  empty: "No organization yet. Keys, credits and members belong to one.",
  columns: {
    name: "Name",
    available: "Available",
    held: "Held",
    spend: "Charged in 30 days",
    keys: "Keys",
    members: "Members",
    lastRequest: "Last request",
    actions: "Actions",
  },
  asked: (count: number) => counted(count, "entitlement waits", "entitlements wait"),
  debt: "debt",
  paid: "paid workspace",
  rename: "Rename",
  renameTitle: (name: string) => `Rename ${name}`,
  renameHelp: "The new name appears everywhere at once, including in the past. The id stays the same.",
  invite: "Invite owner",
  menu: (name: string) => `Actions for ${name}`,
  inviteTitle: (name: string) => `Invite an owner of ${name}`,
  inviteFirst:
    "This organization has no members yet. The owner creates keys, buys credits and invites the others.",
  inviteMore: (members: number) =>
    `This organization has ${counted(members, "member")}. Another owner may do everything in it.`,
  email: "Email",
  invited: (email: string, name: string) => `${email} is invited to ${name}`,
  sendLink: "Send this link to the person yourself.",
} as const;
