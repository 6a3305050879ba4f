// Where and with which words a terminal logs in (RFC 8628); apart, because the command line needs no more of it.
export const DEVICE_CODE_PATH = "/device/code";
export const DEVICE_TOKEN_PATH = "/device/token";
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
export const DEVICE_CLIENT = "tollgate-cli";
