// What needs a person comes first: providers that serve nobody, then those whose routes are not all live.
interface Route {
  state: string;
}

interface Provider {
  name: string;
  routes: readonly Route[];
}

/**
 * First those that serve nobody, then those that serve in part, fully live ones, and those without a route; each
 * group sorted by name.
 */
export const worstFirst = <P extends Provider>(providers: readonly P[]): P[] =>
  providers.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));

function rank({ routes }: Provider): number {
  const live = routes.filter(isLive).length;
  if (routes.length === 0) return 3;
  return live === 0 ? 0 : live < routes.length ? 1 : 2;
}

/** Puts routes that are not live first, so that nobody has to look for one among a hundred. */
export const notLiveFirst = <R extends Route>(routes: readonly R[]): R[] =>
  routes.toSorted((a, b) => Number(isLive(a)) - Number(isLive(b)));

const isLive = ({ state }: Route): boolean => state === "live";
