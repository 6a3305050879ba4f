/** A price table that cannot be read, or a name that is not in it; `next` says what to do. */
export class CatalogueError extends Error {
  constructor(
    message: string,
    readonly next: string,
  ) {
    super(message);
    this.name = "CatalogueError";
  }
}
