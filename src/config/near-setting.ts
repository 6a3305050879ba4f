// Guesses which setting was meant by an unknown one: a typo in its name, or its name in another group.
import { isJsonObject, type JsonObject } from "../domain/read-value.ts";
import { nearName } from "../domain/near-name.ts";
import type { Path } from "./settings-file.ts";

/** More matches are no help. */
const GROUPS_MAX = 3;

/**
 * Returns the settings that may have been meant: none if none is near, or if too many groups have one of this name.
 * `schema` is the JSON schema of all settings.
 */
export function nearSettings(path: Path, schema: unknown): Path[] {
  const key = path.at(-1);
  if (typeof key !== "string") return [];
  const group = path.slice(0, -1);
  const beside = settingsAt(group, schema);
  if (beside.includes(key)) return []; // a setting of another kind of provider
  const near = nearName(key, beside);
  if (near !== null) return [[...group, near]];
  const elsewhere = groupsWith(key, schema);
  return elsewhere.length > GROUPS_MAX ? [] : elsewhere.map((name) => [name, key]);
}

/** Returns the names of a group's settings; for a list's item, those of all its kinds. */
function settingsAt(group: Path, schema: unknown): string[] {
  let shapes = variantsOf(schema);
  for (const step of group)
    shapes = shapes
      .map((shape) => (typeof step === "number" ? shape["items"] : propertiesOf(shape)[step]))
      .flatMap(variantsOf);
  return [...new Set(shapes.flatMap((shape) => Object.keys(propertiesOf(shape))))];
}

/** Returns the top-level groups that have a setting of this name. */
const groupsWith = (key: string, schema: unknown): string[] =>
  settingsAt([], schema).filter((group) => settingsAt([group], schema).includes(key));

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isJsonObject(properties) ? properties : {});

function variantsOf(schema: unknown): JsonObject[] {
  if (!isJsonObject(schema)) return [];
  const inner = [schema["oneOf"], schema["anyOf"]].flatMap((list) => (Array.isArray(list) ? list : []));
  return [schema, ...inner.flatMap(variantsOf)];
}
