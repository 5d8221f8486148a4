-- A lot whose notes the national environment refused, every one, and that was sent again: it is another lot from then on.
alter table lotes add column refeito boolean not null default false;
drop index lotes_impressao;
create unique index lotes_impressao on lotes (tenant, prestador, impressao) where situacao <> 3 and not refeito;
