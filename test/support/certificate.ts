// Self-signed certificates for 127.0.0.1 and names of the tests, and a way to make this process accept any for a while.
export const CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgyHQzJI1Dqa2ac9h2
xinEvPGqYMDRbUCysfR53SQVTnGhRANCAASWUHHd2andi+f2oLBRSPRS5AZExMOb
FCFLLYWpZW5Y0omRsfmnGgaVlBtjQZdBMSLsgD+oN9kyCph//eiW9fjr
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBvTCCAWOgAwIBAgIUGiRwFi79gxXxX7slOf8egVJtzrQwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyOTIyMDg0NVoYDzIxMjYxMTA1
MjIwODQ1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASWUHHd2andi+f2oLBRSPRS5AZExMObFCFLLYWpZW5Y0omRsfmnGgaV
lBtjQZdBMSLsgD+oN9kyCph//eiW9fjro4GQMIGNMB0GA1UdDgQWBBRs2K2ftLVs
YgkxsgNEA/XwMAB2XTAfBgNVHSMEGDAWgBRs2K2ftLVsYgkxsgNEA/XwMAB2XTAP
BgNVHRMBAf8EBTADAQH/MDoGA1UdEQQzMDGCCWxvY2FsaG9zdIcEfwAAAYINdXBz
dHJlYW0udGVzdIIPKi51cHN0cmVhbS50ZXN0MAoGCCqGSM49BAMCA0gAMEUCIQCh
W24i+FHfMzRyPSqFjHDowmfMWmcbmVHf3uuQwpT7JgIgMF5XhAR72Gs7cmh1BUuh
taT3SNh8AlMigPazOarvU04=
-----END CERTIFICATE-----`,
};

/** Of the same names, by an authority of its own. */
export const OTHER_CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcOm04VwENECFvmCd
bN/V49aLaZRwQiMgxtRLDSGt10OhRANCAATAjOZACn/32nru6TR7bBN4J651SK6i
p6XAHtoJAVHZn/0Dlnl9W8AVaPzm3L8ZbXx5iAa60p6nxplWs/4ofRxT
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUCBu3lNjkkCDD1rmZzycR6a2RdDUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyOTIzMDMwOVoYDzIxMjYxMTA1
MjMwMzA5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATAjOZACn/32nru6TR7bBN4J651SK6ip6XAHtoJAVHZn/0Dlnl9W8AV
aPzm3L8ZbXx5iAa60p6nxplWs/4ofRxTo28wbTAdBgNVHQ4EFgQUvEv0mME6kcol
Smi5Z9XlSd+LNHwwHwYDVR0jBBgwFoAUvEv0mME6kcolSmi5Z9XlSd+LNHwwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAP+e6vpLztiq6KhUBUP1fY7zm6W20DvNVL993WD7WSSBAiAG
YcayVtGsQF+MCHjyMjhchuAErQYrLJ/+rUIBaoD60g==
-----END CERTIFICATE-----`,
};

const SETTING = "NODE_TLS_REJECT_UNAUTHORIZED";

/** Accepts any certificate until `restore` is called. */
export function trustAnyone(): { restore(): void } {
  const before = process.env[SETTING];
  process.env[SETTING] = "0";
  return {
    restore() {
      if (before === undefined) delete process.env[SETTING];
      else process.env[SETTING] = before;
    },
  };
}
