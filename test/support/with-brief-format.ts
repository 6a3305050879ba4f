// Preloaded by a gateway in a process of its own: the line of `formats.ts` that a second surface would be.
import type { Format } from "../../src/gateway/formats/format.ts";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { brief } from "./brief-format.ts";

(FORMATS as Format[]).push(brief);
