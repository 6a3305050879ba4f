// A provider's own state beside a call, as the client sent it back (wire.md §8.4): each provider reads what is under
// its name.

/** Returns undefined if nothing came back under that name. */
export const extraOf = (extra: Record<string, unknown> | undefined, family: string): unknown =>
  extra !== undefined && Object.hasOwn(extra, family) ? extra[family] : undefined;
