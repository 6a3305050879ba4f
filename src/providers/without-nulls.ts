// Members that are null say nothing, and vendors refuse most of them by name. Whoever sends an answer back as he printed it writes
// each unset one so, as Python's `model_dump` does; in a caller's own body they are left out, as its own null members are.
type Json = Record<string, unknown>;

/** The same object where none of its members is null; what stands inside of them is not looked at. */
export function withoutNulls(object: Json): Json {
  const members = Object.entries(object);
  const said = members.filter(([, member]) => member !== null);
  return said.length === members.length ? object : Object.fromEntries(said);
}
