-- The account that waits for the first administrator is made at each start, under a login that nobody can choose; the one from before goes.

delete from papeis where conta in (
  select id from contas where login = 'administrador' and nome = 'Administrador' and senha is null and oidc_sujeito is null);
delete from contas where login = 'administrador' and nome = 'Administrador' and senha is null and oidc_sujeito is null;
