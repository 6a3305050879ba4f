// The `typ` of each kind of signed document, so that none passes for another.

export const RELEASE_TYPE = "gw-release+jwt";
export const RECEIPT_TYPE = "gw-receipt+jwt";
