// The library's parts that are used: most of what it takes of a start is for what pushes and gathers (performance.md §5).
declare module "prom-client/lib/counter" {
  export { Counter as default } from "prom-client";
}
declare module "prom-client/lib/gauge" {
  export { Gauge as default } from "prom-client";
}
declare module "prom-client/lib/registry" {
  export { Registry as default } from "prom-client";
}
/** What is told of a process, one file each. */
declare module "prom-client/lib/metrics/*" {
  const register: (
    registry: import("prom-client").Registry,
    options: { eventLoopMonitoringPrecision: number },
  ) => void;
  export default register;
}
