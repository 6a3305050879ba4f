// The names in a route's id, as far as they can be derived without its release.

export interface RouteNames {
  model: string;
  provider: string;
  region: string;
}

/** Matches ids in the default form of routes; a model's id has no `@`, and a provider's or a region's name no `/`. */
const BY_DEFAULT = /^([^@]+)@([^@/]+)\/([^@/]+)$/;

/** Null for a route with a name that its operator chose. */
export function namesOfRoute(route: string): RouteNames | null {
  const [, model, provider, region] = BY_DEFAULT.exec(route) ?? [];
  if (model === undefined || provider === undefined || region === undefined) return null;
  return { model, provider, region };
}
