#!/bin/sh
# Um Citus nesta máquina, para experimentar e para os testes: um coordenador e dois nós no endereço local, a partir de um Citus instalado.
# Roda como qualquer usuário; como root, os servidores rodam pela conta postgres (ou a de NFSE_CITUS_CONTA), pois o PostgreSQL recusa root.
set -eu

usage() {
  cat <<FIM
Uso: scripts/citus-local.sh iniciar|parar|situacao [--pasta PASTA] [--porta PORTA] [--sem-disco]

  iniciar       cria o que falta, sobe os três servidores e escreve o endereço do coordenador
  parar         para os três; os dados ficam na pasta
  situacao      diz o que está no ar

  --pasta       onde ficam os dados e os logs (padrão: ./data-citus)
  --porta       do coordenador; os nós ficam nas duas seguintes (padrão: 9700)
  --sem-disco   nada espera pelo disco: para testes, cujos dados não precisam sobreviver à máquina
FIM
}

fail() {
  printf 'citus-local: %s\n' "$1" >&2
  exit 1
}

ask=${1:-}
[ $# -gt 0 ] && shift
folder=data-citus port='' fast=''
while [ $# -gt 0 ]; do
  case $1 in
    --pasta) folder=${2:?falta a pasta} && shift ;;
    --porta) port=${2:?falta a porta} && shift ;;
    --sem-disco) fast=1 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done
case $ask in
  iniciar | parar | situacao) ;;
  *) usage >&2 && exit 2 ;;
esac

# The newest PostgreSQL that has Citus beside it.
find_bin() {
  for config in ${PG_CONFIG:-} $(ls -d /usr/lib/postgresql/*/bin/pg_config /usr/pgsql-*/bin/pg_config \
    /opt/homebrew/opt/postgresql@*/bin/pg_config 2>/dev/null | sort -rV) pg_config; do
    share=$("$config" --sharedir 2>/dev/null) || continue
    bin=$("$config" --bindir)
    if [ -f "$share/extension/citus.control" ] && [ -x "$bin/initdb" ]; then
      echo "$bin"
      return
    fi
  done
  fail "não há Citus instalado nesta máquina (nenhum pg_config cuja pasta de extensões tenha citus.control).
O Debian não o traz; instale o pacote de quem o faz, da versão do seu PostgreSQL:
  curl https://install.citusdata.com/community/deb.sh | sudo bash
  sudo apt-get -y install postgresql-17-citus-13.0
Em Red Hat e parecidos: https://install.citusdata.com/community/rpm.sh e citus130_17.
Se ele está noutro lugar, indique o seu pg_config em PG_CONFIG."
}

bin=$(find_bin)
[ "$ask" = iniciar ] && mkdir -p "$folder"
[ -d "$folder" ] || fail "não há nada em $folder; suba um Citus com: scripts/citus-local.sh iniciar"
folder=$(cd "$folder" && pwd)
name=nfse
secret=$folder/senha
passfile=$folder/pgpass

# Commands run as the account that owns the servers, in a folder that it may enter.
if [ "$(id -u)" = 0 ]; then
  account=${NFSE_CITUS_CONTA:-postgres}
  id "$account" >/dev/null 2>&1 || fail "o PostgreSQL não roda como root, e não há a conta $account; indique outra em NFSE_CITUS_CONTA"
  as() { (cd / && exec setpriv --reuid "$account" --regid "$(id -g "$account")" --clear-groups -- "$@"); }
  [ "$ask" = iniciar ] && chown "$account" "$folder"
else
  as() { "$@"; }
fi

if [ -f "$folder/porta" ]; then
  known=$(cat "$folder/porta")
  [ -z "$port" ] || [ "$port" = "$known" ] || fail "o Citus de $folder foi criado na porta $known"
  port=$known
fi
port=${port:-9700}

servers="coordenador no1 no2"
port_of() {
  case $1 in
    coordenador) echo "$port" ;;
    no1) echo $((port + 1)) ;;
    no2) echo $((port + 2)) ;;
  esac
}

is_up() { as "$bin/pg_ctl" -D "$folder/$1" status >/dev/null 2>&1; }

# The secret keeps other accounts out: a superuser of a server runs programs as its account.
create_secret() {
  [ -f "$secret" ] && return
  as sh -c 'umask 077; od -An -N16 -tx1 /dev/urandom | tr -d " \n" >"$1"; echo >>"$1"
    printf "*:*:*:*:%s\n" "$(cat "$1")" >"$2"' sh "$secret" "$passfile"
}

create_server() {
  [ -d "$folder/$1" ] && return
  as "$bin/initdb" -D "$folder/$1.novo" -U $name --pwfile="$secret" -A scram-sha-256 -E UTF8 --locale=C --no-sync --no-instructions >/dev/null
  # The log shows each refused statement with its error (npm run test:citus).
  as tee -a "$folder/$1.novo/postgresql.conf" >/dev/null <<FIM
shared_preload_libraries = 'citus'
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
port = $(port_of "$1")
max_connections = 300
max_prepared_transactions = 600
max_worker_processes = 64
wal_level = logical
citus.node_conninfo = 'sslmode=disable'
logging_collector = on
log_destination = 'jsonlog'
log_directory = 'log'
log_filename = 'postgresql.log'
FIM
  # Newer versions of PostgreSQL require the names of the plug-ins that read the log; Citus splits and moves shards with
  # its own.
  ! as "$bin/postgres" -D "$folder/$1.novo" -C output_plugin_libraries >/dev/null 2>&1 ||
    echo "output_plugin_libraries = 'pgoutput, test_decoding, citus'" | as tee -a "$folder/$1.novo/postgresql.conf" >/dev/null
  # Commits are still written before they are answered: they survive the death of a server, but not that of the machine.
  [ -z "$fast" ] || printf 'fsync = off\nfull_page_writes = off\n' |
    as tee -a "$folder/$1.novo/postgresql.conf" >/dev/null
  as mv "$folder/$1.novo" "$folder/$1"
}

start_server() {
  is_up "$1" || as env -u PGPASSWORD PGPASSFILE="$passfile" "$bin/pg_ctl" -D "$folder/$1" -w -t 120 -s -l "$folder/$1.log" start ||
    fail "o servidor $1 não subiu; veja $folder/$1.log e $folder/$1/log"
}

# The nodes are registered in the database `postgres`, where the tests look for them.
join_nodes() {
  for one in $servers; do ask_server "$one" 'create extension if not exists citus' >/dev/null; done
  ask_server coordenador "select citus_set_coordinator_host('127.0.0.1', $port)" >/dev/null
  for one in no1 no2; do ask_server coordenador "select citus_add_node('127.0.0.1', $(port_of $one))" >/dev/null; done
}

# The secret comes from its file, never from the caller's environment.
ask_server() { as env -u PGPASSWORD PGPASSFILE="$passfile" PGOPTIONS=--client-min-messages=warning "$bin/psql" -XqAt -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$(port_of "$1")" -U $name -d postgres -c "$2"; }

address_of() { echo "postgres://$name:$(cat "$secret")@127.0.0.1:$(port_of "$1")/postgres"; }

case $ask in
  iniciar)
    as sh -c 'echo "$1" >"$2"' sh "$port" "$folder/porta"
    create_secret
    for one in $servers; do
      [ -e "$folder/$one.novo" ] && as rm -rf "$folder/$one.novo"
      create_server "$one"
      start_server "$one"
    done
    join_nodes
    echo "NFSE_TEST_CITUS=$(address_of coordenador)"
    ;;
  parar)
    for one in no2 no1 coordenador; do
      if is_up "$one"; then as "$bin/pg_ctl" -D "$folder/$one" -m fast -w -t 120 -s stop; fi
    done
    ;;
  situacao)
    code=0
    for one in $servers; do
      if is_up "$one"; then state='no ar'; else state=parado code=3; fi
      printf '%-12s %-18s %s\n' "$one" "127.0.0.1:$(port_of "$one")" "$state"
    done
    [ "$code" != 0 ] || address_of coordenador
    exit $code
    ;;
esac
