// The error for a read while the database is away.
import { overloaded } from "../../domain/overloaded.ts";
import { errorKind } from "../../store/postgres-error.ts";

/** Turns a failed read of a database that is away into a refusal to try again, not a bug. */
export async function available<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw errorKind(error) === "operation" ? error : overloaded(error);
  }
}
