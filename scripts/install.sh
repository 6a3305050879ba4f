#!/bin/sh
# Installs the pinned dependencies if they are missing or the lock file has changed. `serving` (for `npm start`) installs what
# the gateway and its dashboard need; otherwise everything is installed, for `npm test`, `npm run check` and the like. A whole
# install serves, too. The install is made beside node_modules and renamed into place when complete: running programs are not
# disturbed, and a failure leaves the old tree in place. Concurrent installs wait for each other.
set -eu
cd "$(dirname "$0")/.."
case "${1:-everything}" in
  serving) wanted=serving ;;
  everything) wanted=everything ;;
  *) echo "usage: scripts/install.sh [serving]" >&2; exit 2 ;;
esac
part=.tollgate-install

# The stamps are copies of the lock file that was installed.
installed() { [ -f "node_modules/$1" ] && cmp -s package-lock.json "node_modules/$1"; }
enough() { installed .tollgate-lock || { [ "$wanted" = serving ] && installed .tollgate-serving-lock; }; }
owner() { cat "$part/pid" 2>/dev/null || true; }

if enough; then exit 0; fi

asked=0
told=
until mkdir "$part" 2>/dev/null; do
  if [ ! -d "$part" ]; then
    if mkdir "$part" 2>/dev/null; then break; fi # the install that had it ended between the two questions
    if [ -d "$part" ]; then continue; fi
    echo "tollgate: $(pwd) cannot be written, so nothing can be installed here. Check its owner, or install as that user." >&2
    exit 1
  fi
  pid=$(owner)
  if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then
    # The process id may be written a moment after the folder is created.
    if [ -z "$told" ]; then echo "Waiting for the install of process $pid …" >&2; fi
    told=yes
  elif [ $asked -ge 5 ] && [ "$(owner)" = "$pid" ]; then
    rm -rf "$part" # its process was killed
  fi
  asked=$((asked + 1))
  sleep 0.5
done
echo $$ >"$part/pid"
trap 'rm -rf "$part"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if enough; then exit 0; fi

fetch() { # $1: where package addresses come from: `known` from the lock file's names, or `asked` of the registry
  node scripts/install-plan.mjs "$part" "$wanted" "$1"
  # The only install script that serving would need moves Bun's program; tollgate-bun finds it where it is.
  if [ "$wanted" = serving ]; then scripts=--ignore-scripts; else scripts=; fi
  npm ci --prefix "$part" $scripts --no-audit --no-fund --no-update-notifier --loglevel=error >&2
}
# Bun's install script moves its program. Keep it at both places, so that a running process can start another one by the
# path that it was started from.
keep_bun() {
  for bin in "$1"/@oven/bun-*/bin; do
    if [ ! -d "$bin" ]; then continue; fi
    if [ ! -e "$bin/bun" ]; then
      ln "$1/bun/bin/bun.exe" "$bin/bun"
    elif "$bin/bun" --version >/dev/null 2>&1; then
      ln -f "$bin/bun" "$1/bun/bin/bun.exe"
    fi
  done
}
lighten() { # Deletes what is never loaded: types, source maps, documents, tests, and the non-ES-module builds of packages that we import.
  find "$1" -type f \( -name '*.ts' -o -name '*.tsx' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' -o -name '*.md' \) \
    ! -iname 'licen[cs]e*' ! -iname 'notice*' ! -iname 'copying*' -delete
  find "$1" -type d \( -name test -o -name tests -o -name __tests__ -o -name benchmarks -o -name umd \) -prune -exec rm -rf {} +
  # Packages that only other packages load stay whole: those may be CommonJS.
  node -p 'Object.keys(require("./package.json").dependencies).join("\n")' | while read -r name; do
    if [ ! -d "$1/$name" ]; then continue; fi
    find "$1/$name" -name node_modules -prune -o -type d -name esm -print | while read -r modules; do
      (cd "$modules/.." && rm -rf cjs src)
    done
  done
  # The largest remaining files, by name: React is bundled for production and renders in browsers, vocabularies are read from
  # two files and the font from one, and the dashboard's bundle uses ES modules only.
  (cd "$1" && rm -rf react-dom/cjs/*.development.js react-dom/cjs/*.profiling.js react-dom/cjs/react-dom-server* \
    gpt-tokenizer/esm/bpeRanks gpt-tokenizer/esm/encoding gpt-tokenizer/data/[pr]50k_base.tiktoken gpt-tokenizer/data/TestPlans.txt \
    dejavu-fonts-ttf/ttf/DejaVuSans?*.ttf dejavu-fonts-ttf/ttf/DejaVuMath* dejavu-fonts-ttf/ttf/DejaVuSerif* dejavu-fonts-ttf/*.txt dejavu-fonts-ttf/NEWS dejavu-fonts-ttf/fontconfig \
    recharts/lib victory-vendor/lib victory-vendor/lib-vendor @opentelemetry/semantic-conventions/dist/*.cjs)
  if [ -d "$1/es-toolkit" ]; then find "$1/es-toolkit" -name '*.js' -delete; fi
}
if [ "$wanted" = serving ]; then much="what serving needs (once; takes about a quarter of a minute)"; else
  much="the pinned dependencies (once; takes about a minute)"
fi
echo "Installing $much …" >&2
if [ -f .npmrc ]; then ln -s ../.npmrc "$part/.npmrc"; fi
if ! fetch known; then
  echo "Once more, asking the registry where each package lies …" >&2
  fetch asked
fi
keep_bun "$part/node_modules"
if [ "$wanted" = serving ]; then
  lighten "$part/node_modules"
  cp package-lock.json "$part/node_modules/.tollgate-serving-lock"
else
  cp package-lock.json "$part/node_modules/.tollgate-lock"
fi
if [ -d node_modules/.cache ]; then mv node_modules/.cache "$part/node_modules/.cache"; fi
if [ -e node_modules ]; then mv node_modules "$part/before"; fi
mv "$part/node_modules" node_modules
