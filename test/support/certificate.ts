// A self-signed certificate for 127.0.0.1 and the names of upstream.test, for tests only, and a way to make this process accept it for a while.
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
