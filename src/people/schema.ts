// The tables that we add to those of the sign-in library; it creates them with its own, in both stores.
const text = { type: "string", required: true, input: false } as const;
const optional = { type: "string", required: false, input: false } as const;
const whole = { type: "number", required: true, bigint: true, input: false } as const;
const flag = { type: "boolean", required: true, input: false } as const;

export const peopleSchema = {
  user: {
    fields: { operator: { type: "boolean", required: false, defaultValue: false, input: false } },
  },
  membership: {
    fields: {
      /** Organization and person combined, so that nobody is in an organization twice. */
      place: { ...text, unique: true },
      organizationId: { ...text, index: true },
      personId: { ...text, index: true },
      role: text,
      joinedAt: whole,
      seenAt: whole,
    },
  },
  invitation: {
    fields: {
      /** SHA-256 of the token; only the link contains the token itself. */
      digest: { ...text, unique: true },
      organizationId: { ...optional, index: true },
      email: text,
      role: text,
      invitedBy: text,
      createdAt: whole,
      expiresAt: whole,
      state: text,
    },
  },
  /** Responses to forms by Idempotency-Key, without secrets; null while the first one runs. */
  rememberedAnswer: {
    fields: {
      place: { ...text, unique: true },
      fingerprint: text,
      answer: optional,
      expiresAt: { ...whole, index: true },
    },
  },
  organizationRule: {
    fields: { organizationId: { ...text, unique: true }, requireTwoFactor: flag },
  },
  usageView: {
    fields: {
      /** Organization, person and name combined: a name identifies one view. */
      place: { ...text, unique: true },
      organizationId: { ...text, index: true },
      personId: { ...text, index: true },
      name: text,
      query: text,
      createdAt: whole,
    },
  },
} as const;

export interface MembershipRow {
  id: string;
  place: string;
  organizationId: string;
  personId: string;
  role: string;
  joinedAt: number;
  seenAt: number;
}

export interface InvitationRow {
  id: string;
  digest: string;
  organizationId: string | null;
  email: string;
  role: string;
  invitedBy: string;
  createdAt: number;
  expiresAt: number;
  state: string;
}

export interface UserRow {
  id: string;
  name: string;
  email: string;
  operator: boolean | null;
  twoFactorEnabled: boolean | null;
  emailVerified: boolean;
  createdAt: Date | string;
}

export interface RememberedRow {
  id: string;
  place: string;
  fingerprint: string;
  answer: string | null;
  expiresAt: number;
}

export interface RuleRow {
  id: string;
  organizationId: string;
  requireTwoFactor: boolean;
}

export interface UsageViewRow {
  id: string;
  name: string;
  query: string;
}
