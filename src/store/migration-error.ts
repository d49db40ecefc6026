/** The store and the migrations of this version do not go together. The message is for the operator. */
export class MigrationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MigrationError";
  }
}
