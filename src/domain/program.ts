// The version of this program, as the dashboard, the operator API and the command line say it.
export const VERSION = "0.1.0";
