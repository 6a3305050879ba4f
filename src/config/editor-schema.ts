// The JSON schema of `tollgate.yaml` for editors, generated from the schema that checks it. interfaces.md §3.
import { z } from "zod";
import { PROVIDER_KINDS } from "../providers/kinds.ts";
import { settingsSchema } from "./settings.ts";

/** Returns the content of `tollgate.schema.json`; a test keeps the file current. */
export function editorSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(settingsSchema(PROVIDER_KINDS), { io: "input" });
  return { title: "tollgate.yaml", ...schema };
}
