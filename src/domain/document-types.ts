// `typ` of each document that is signed here, so that none passes for another.

export const RELEASE_TYPE = "gw-release+jwt";
export const RECEIPT_TYPE = "gw-receipt+jwt";
