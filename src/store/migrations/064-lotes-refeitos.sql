-- A lot whose notes the national environment refused, every one, and that was sent again: it is another lot from then on.
alter table lotes add column refeito boolean not null default false;

-- passo
create unique index concurrently lotes_impressao_nova on lotes (tenant, prestador, impressao)
  where situacao <> 3 and not refeito;

-- passo
drop index concurrently if exists lotes_impressao;

-- passo
alter index lotes_impressao_nova rename to lotes_impressao;
