/** Incompatibility of the store with this version's migrations. The message is for the operator. */
export class MigrationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MigrationError";
  }
}
