// The organization that the person looked at last; a convenience, so a browser that forbids storage loses only that.
const NAME = "tollgate.organization";

export function rememberOrganization(id: string): void {
  try {
    localStorage.setItem(NAME, id);
  } catch {
    // Storage is forbidden: next time the first organization is shown.
  }
}

export function lastOrganization(): string | null {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}
