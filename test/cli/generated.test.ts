import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { GENERATED } from "./generated.ts";

test.each(GENERATED.map(({ path, content }) => [basename(path), path, content] as const))(
  "%s is what the code says (else run: ./tollgate-bun test/cli/generated.ts)",
  (_, path, content) => {
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(JSON.parse(JSON.stringify(content())));
  },
);
