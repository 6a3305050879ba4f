// What a route is called by, as far as it can be told without its release.

export interface RouteNames {
  model: string;
  provider: string;
  region: string;
}

/** Of an id in the form that routes have by default; neither a model's id has an `@`, nor a provider's or a region's name a `/`. */
const BY_DEFAULT = /^([^@]+)@([^@/]+)\/([^@/]+)$/;

/** Null for a route that its operator gave a name of its own. */
export function namesOfRoute(route: string): RouteNames | null {
  const [, model, provider, region] = BY_DEFAULT.exec(route) ?? [];
  if (model === undefined || provider === undefined || region === undefined) return null;
  return { model, provider, region };
}
