// What a read of a database that is away is told.
import { overloaded } from "../../domain/overloaded.ts";
import { errorKind } from "../../store/postgres-error.ts";

/** A read of a database that is away is a refusal to try again, not a bug. */
export async function available<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw errorKind(error) === "operation" ? error : overloaded(error);
  }
}
