// Which setting somebody may have meant who wrote one that there is none of: a slip in its name, or its name in another group.
import { isJsonObject, type JsonObject } from "../domain/read-value.ts";
import { nearName } from "../domain/near-name.ts";
import type { Path } from "./settings-file.ts";

/** More say nothing. */
const GROUPS_MAX = 3;

/** `schema`: the JSON schema of all settings. None where none is near, or many groups have one of this name. */
export function nearSettings(path: Path, schema: unknown): Path[] {
  const key = path.at(-1);
  if (typeof key !== "string") return [];
  const group = path.slice(0, -1);
  const beside = settingsAt(group, schema);
  if (beside.includes(key)) return []; // of another kind of provider
  const near = nearName(key, beside);
  if (near !== null) return [[...group, near]];
  const elsewhere = groupsWith(key, schema);
  return elsewhere.length > GROUPS_MAX ? [] : elsewhere.map((name) => [name, key]);
}

/** The names of a group; of a list's item, those of all its kinds. */
function settingsAt(group: Path, schema: unknown): string[] {
  let shapes = variantsOf(schema);
  for (const step of group)
    shapes = shapes
      .map((shape) => (typeof step === "number" ? shape["items"] : propertiesOf(shape)[step]))
      .flatMap(variantsOf);
  return [...new Set(shapes.flatMap((shape) => Object.keys(propertiesOf(shape))))];
}

/** Groups at the top that have a setting of this name. */
const groupsWith = (key: string, schema: unknown): string[] =>
  settingsAt([], schema).filter((group) => settingsAt([group], schema).includes(key));

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isJsonObject(properties) ? properties : {});

function variantsOf(schema: unknown): JsonObject[] {
  if (!isJsonObject(schema)) return [];
  const inner = [schema["oneOf"], schema["anyOf"]].flatMap((list) => (Array.isArray(list) ? list : []));
  return [schema, ...inner.flatMap(variantsOf)];
}
