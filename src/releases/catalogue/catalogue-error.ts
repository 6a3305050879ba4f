/** A price table that cannot be read, or a name that it does not have; `next` says what to do. */
export class CatalogueError extends Error {
  constructor(
    message: string,
    readonly next: string,
  ) {
    super(message);
    this.name = "CatalogueError";
  }
}
