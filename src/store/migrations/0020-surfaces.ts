// The surface of a request. NULL means chat completions, which was the only one and is what older programs serve.
export const SURFACES_SCHEMA = `
ALTER TABLE request ADD COLUMN surface TEXT;

ALTER TABLE journal ADD COLUMN surface TEXT;

`;
