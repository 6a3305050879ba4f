import { counted } from "../../format/count.ts";

export const organizationsTexts = {
  lead: "Every organization of this gateway, with what it has and what it spends. A name opens its pages as its members see them.",
  create: "Create organization",
  name: "Name",
  nameHelp: "Its members and its receipts carry this name.",
  search: "Search by name or whole id",
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
  renameHelp: "The new name is shown everywhere at once, also for what is past. Its id stays.",
  invite: "Invite owner",
  menu: (name: string) => `Actions for ${name}`,
  inviteTitle: (name: string) => `Invite an owner of ${name}`,
  inviteFirst:
    "Nobody belongs to this organization yet. The owner makes keys, buys credits and invites the others.",
  inviteMore: (members: number) =>
    `This organization has ${counted(members, "member")}. A further owner may do everything in it.`,
  email: "Email",
  invited: (email: string, name: string) => `${email} is invited to ${name}`,
  sendLink: "Send this link to the person yourself.",
} as const;
