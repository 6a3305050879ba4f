// Preloaded by a gateway in a separate process: the line of `formats.ts` that a second surface would add.
import type { Format } from "../../src/gateway/formats/format.ts";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { brief } from "./brief-format.ts";

(FORMATS as Format[]).push(brief);
