-- Whether an address answers quickly, by what came of the last messages: those that do wait for none that does not.
alter table webhooks add column rapido boolean not null default false;

-- passo
create index concurrently webhooks_rapidos on webhooks (tenant, rapido, proxima) where ativo and proxima is not null;

-- passo
-- Those that ran out long ago, which a rehearsal forgets.
create index concurrently tokens_expira on tokens (tenant, expira_em);
