// A provider's own state beside a call, as the client brought it back (wire.md §8.4): each reads what stands under its name.

/** Undefined where nothing of that name came back. */
export const extraOf = (extra: Record<string, unknown> | undefined, family: string): unknown =>
  extra !== undefined && Object.hasOwn(extra, family) ? extra[family] : undefined;
