// The target of an endpoint: method and path, `/app/v1` for people with a session, `/admin/v1` for management
// keys. A name in braces is a field of its input; the other fields are the query of a GET and the body of
// other methods.

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type SessionTarget = `${Method} /app/v1/${string}`;
export type KeyTarget = `${Method} /admin/v1/${string}`;
export type Target = SessionTarget | KeyTarget;

/** The input fields that the path contains. */
export type PathField<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathField<Rest>
  : never;

/** The names in the braces of its path, in order. */
export const pathFields = (target: Target): string[] =>
  [...target.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);

export const methodOf = (target: Target): Method => target.slice(0, target.indexOf(" ")) as Method;
/** Including the braces. */
export const pathOf = (target: Target): string => target.slice(target.indexOf(" ") + 1);

/** The call of a target with this input: the filled path, and the remaining fields. */
export function fill(
  target: Target,
  input: Readonly<Record<string, unknown>>,
): { method: Method; path: string; rest: Record<string, unknown> } {
  const rest = { ...input };
  const path = pathOf(target).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  return { method: methodOf(target), path, rest };
}
