// All recordings of the shared fixtures, by the shape they came in.
import { testRecorded } from "./recorded.ts";
import { RECORDED_SHAPES } from "./recorded-shapes.ts";

for (const [name, shape] of Object.entries(RECORDED_SHAPES)) testRecorded(name, shape);
