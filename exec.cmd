@rem On Windows the scripts of package.json find this where a shell of Unix knows exec: it runs what follows.
@rem Variables before the program, which are of glibc, are left out.
@setlocal
@set WHAT=%*
@%WHAT:*node =node %
