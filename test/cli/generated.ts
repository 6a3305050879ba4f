// The two committed files that are generated from code: the editor's schema of tollgate.yaml and the OpenAPI document
// of the operator API. `./tollgate-bun test/cli/generated.ts` writes them; `generated.test.ts` compares them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { editorSchema } from "../../src/config/editor-schema.ts";
import { openApiDocument } from "../../src/http/api/document.ts";

const root = join(import.meta.dir, "../..");

export const GENERATED: { path: string; content: () => unknown }[] = [
  { path: join(root, "tollgate.schema.json"), content: editorSchema },
  { path: join(root, "docs/openapi.json"), content: openApiDocument },
];

if (import.meta.main) {
  for (const { path, content } of GENERATED) writeFileSync(path, `${JSON.stringify(content(), null, 2)}\n`);
}
