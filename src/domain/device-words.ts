// The addresses and terms of a command-line login (RFC 8628); separate, because the command line needs nothing else of it.
export const DEVICE_CODE_PATH = "/device/code";
export const DEVICE_TOKEN_PATH = "/device/token";
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
export const DEVICE_CLIENT = "tollgate-cli";
