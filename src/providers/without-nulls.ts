// Null members say nothing, and vendors reject most of them by name. Callers that send an answer back as they printed
// it include them for all unset fields, as Python's `model_dump` does. They are omitted from a caller's own body too.
type Json = Record<string, unknown>;

/** Returns the same object if no member is null. Does not look inside the members. */
export function withoutNulls(object: Json): Json {
  const members = Object.entries(object);
  const said = members.filter(([, member]) => member !== null);
  return said.length === members.length ? object : Object.fromEntries(said);
}
