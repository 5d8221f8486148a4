-- The account that waits for the first administrator is made at each start, under a login that nobody can choose; the one from before goes.

delete from papeis where conta in (
  select id from contas where login = 'administrador' and nome = 'Administrador' and senha is null and oidc_sujeito is null);
delete from contas where login = 'administrador' and nome = 'Administrador' and senha is null and oidc_sujeito is null;

-- Who made the account: a login, or a name on the machine of the service.
alter table contas add column criada_por text;

-- A role counts once the person has accepted it, by a link of the municipality that gives it.
alter table papeis add column aceito_em timestamptz;
alter table papeis add column dado_por text;
alter table papeis add column convite bytea constraint papeis_convite_inteiro check (length(convite) = 32);
alter table papeis add column convite_expira_em timestamptz;
create index papeis_convite on papeis (convite);

-- Accounts in use go on. The link of one that nobody has opened accepts its role; where several municipalities have given one, each gives it anew.
update papeis set aceito_em = now() where conta in (select id from contas where senha is not null or oidc_sujeito is not null);
update papeis p set convite = c.convite, convite_expira_em = c.convite_expira_em from contas c
  where c.id = p.conta and p.aceito_em is null and c.convite is not null
    and not exists (select 1 from papeis o where o.conta = p.conta and o.municipio <> p.municipio);
