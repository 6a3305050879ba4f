// The floor of the gateway's shell (performance.md §5).
import { serveLean } from "./lean-proxy.ts";

serveLean(null);
