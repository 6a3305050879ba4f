// Error codes of a connection whose server has a certificate that is not trusted here. It is judged before anything is sent.

const UNTRUSTED =
  /^(?:CERT_\w+|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|UNABLE_TO_(?:GET|VERIFY|DECODE|DECRYPT)_\w+|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|ERR_TLS_CERT_ALTNAME_INVALID)$/;

export const isUntrustedCertificate = (code: string): boolean => UNTRUSTED.test(code);
