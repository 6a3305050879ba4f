// What an edit changes in a key: its new name and settings, and the audit lines for the differences.
import { formatUsd, type NanoUsd } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import { isStale, versionOf } from "../domain/row-version.ts";
import type { KeySettings } from "./key-record.ts";

/** The editable fields of a key. */
export interface Editable extends KeySettings {
  name: string;
}

/** Omitted fields stay unchanged. */
export type KeyEdit = { [Field in keyof Editable]?: Editable[Field] | undefined } & {
  /** The version of the key that was edited; without it, the edit applies to any version. */
  version?: string | undefined;
};

type Printed = string | number | readonly string[] | null;

interface Line {
  action: "key.rename" | "key.limit" | "key.settings";
  before: Record<string, Printed>;
  after: Record<string, Printed>;
}

const usd = (amount: NanoUsd | null): string | null => (amount === null ? null : formatUsd(amount));

/** A key's settings as named in the audit log and the records of the API. */
export const printSettings = (settings: KeySettings) => ({
  limit_usd: usd(settings.limit),
  day_limit_usd: usd(settings.dayLimit),
  week_limit_usd: usd(settings.weekLimit),
  allowed_models: settings.allowedModels === null ? null : [...settings.allowedModels],
  max_output_tokens: settings.maxOutputTokens,
  expires_at: settings.expiresAtMs === null ? null : printTime(settings.expiresAtMs),
});

/** Applies an edit; call with the key as read under its lock. */
export function editKey(
  key: Editable,
  { version, ...edit }: KeyEdit,
): { edited: Editable; lines: Line[] } | "changed_meanwhile" {
  if (isStale(version, versionOf("key", key))) return "changed_meanwhile";
  const { name, limit, dayLimit, weekLimit, allowedModels, maxOutputTokens, expiresAtMs } = key;
  const edited = {
    name,
    limit,
    dayLimit,
    weekLimit,
    allowedModels,
    maxOutputTokens,
    expiresAtMs,
    ...given(edit),
  };
  const lines: Line[] = [];
  const { limit_usd: before, ...settingsBefore } = printSettings(key);
  const { limit_usd: after, ...settingsAfter } = printSettings(edited);
  if (before !== after)
    lines.push({ action: "key.limit", before: { limit_usd: before }, after: { limit_usd: after } });
  const changed = Object.keys(settingsAfter).filter(
    (field) => JSON.stringify(at(settingsBefore, field)) !== JSON.stringify(at(settingsAfter, field)),
  );
  const among = (settings: object): Record<string, Printed> =>
    Object.fromEntries(changed.map((field) => [field, at(settings, field)]));
  if (changed.length > 0)
    lines.push({ action: "key.settings", before: among(settingsBefore), after: among(settingsAfter) });
  if (edited.name !== name)
    lines.push({ action: "key.rename", before: { name }, after: { name: edited.name } });
  return { edited, lines };
}

const at = (settings: object, field: string): Printed => (settings as Record<string, Printed>)[field] ?? null;

/** Without the omitted fields. */
const given = (edit: Omit<KeyEdit, "version">): Partial<Editable> =>
  Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
