// The JSON schema of `tollgate.yaml` for editors, made from the schema that checks it. interfaces.md §3.
import { z } from "zod";
import { settingsSchema } from "./settings.ts";

/** What stands in `tollgate.schema.json`; a test keeps the file current. */
export function editorSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(settingsSchema, { io: "input" });
  return { title: "tollgate.yaml", ...schema };
}
