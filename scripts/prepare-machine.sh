#!/bin/sh
# Installs the Debian packages that tests use: other programs to compare with, proxies, languages, and the high availability of Debian.
# A test without its program says so and is left out. The machine should be one for tests, since Debian starts the servers it installs.
set -eu

PACKAGES='
age bash ca-certificates curl file libxml2-utils openssl poppler-utils systemd tar unzip xmlsec1 zbar-tools
caddy haproxy nginx pgbouncer postgresql postgresql-15 prometheus
chromium fonts-dejavu-core
default-jdk-headless jaxb jaxws
libmono-system-core4.0-cil libmono-system-net-http4.0-cil libmono-system-security4.0-cil mono-mcs mono-runtime
php-cli php-curl php-soap php-xml
python3 python3-cryptography python3-seccomp python3-zeep
swift-account swift-container swift-object swift-proxy
etcd-server patroni
'

case "${1-}" in
  '') ;;
  --list) printf '%s\n' $PACKAGES && exit ;;
  *) echo "usage: ${0##*/} [--list]" >&2 && exit 2 ;;
esac

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

as_root apt-get -q update
# Another release of Debian may lack one of them.
for package in $PACKAGES; do
  if apt-cache policy "$package" | grep -q '^  Candidate: [^(]'; then found="${found-} $package"
  else echo "$package: not in this release, left out" >&2; fi
done
as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $found
