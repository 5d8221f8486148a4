#!/bin/sh
# Runs the service on the Node that came with it, from any folder or through a link. The script becomes that Node, which
# then receives the signals itself.
self=$0
[ ! -h "$self" ] || self=$(readlink -f "$self")
case $self in */*) ;; *) self=./$self ;; esac
root=$(unset CDPATH; cd "${self%/*}/.." && pwd -P) || exit 1
node=$root/@NODE@

# Node needs three libraries of GCC, which a small system may lack. The first try uses the system's own, the next ones
# use ours, the most portable first.
own=${LD_LIBRARY_PATH-}
for libraries in '' "$root/lib/atomic" "$root/lib/atomic:$root/lib/gcc"; do
  if [ -n "$libraries" ]; then
    LD_LIBRARY_PATH=$libraries${own:+:$own}
    export LD_LIBRARY_PATH
  fi
  if trouble=$("$node" --version 2>&1); then
    # Node's compile cache is kept only where the operator says: no account may write to this folder.
    [ -n "${NODE_COMPILE_CACHE-}" ] || export NODE_DISABLE_COMPILE_CACHE=1
    if [ "${1-}" = serve ]; then
      export @VARIABLES@
      exec "$node" @OPTIONS@ "$root/src/main.js" "$@"
    fi
    exec "$node" "$root/src/main.js" "$@"
  fi
done
printf '%s\n' "O Node que vem com o programa não roda nesta máquina: $trouble" \
  "Ele pede um Linux @ARCH@ com glibc 2.28 ou mais nova. Se falta uma biblioteca, instale libstdc++6 e libatomic1." >&2
exit 1
