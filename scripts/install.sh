#!/bin/sh
# Installs the pinned dependencies when they are missing or the lock file has changed since the last install.
# Runs before `npm start`, `npm test` and `npm run check`, so that a fresh clone needs no other command.
set -eu
cd "$(dirname "$0")/.."
stamp=node_modules/.tollgate-lock
if [ -f "$stamp" ] && cmp -s package-lock.json "$stamp"; then exit 0; fi
echo "Installing the pinned dependencies (once; takes about half a minute) …" >&2
npm ci --no-audit --no-fund --loglevel=error >&2
cp package-lock.json "$stamp"
