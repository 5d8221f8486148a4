-- A refusal that follows from what another party has registered is between the two: it is not shown among the problems.
alter table eventos add column entre_partes boolean not null default false;
alter table eventos add constraint eventos_check1 check (not entre_partes or estado = 'rejeitado') not valid;

-- passo
alter table eventos validate constraint eventos_check1;

-- passo
-- lotes: eventos id
update eventos set entre_partes = true where tenant = $1 and id > $2 and id <= $3 and estado = 'rejeitado' and codigo_retorno in
  ('E0840', 'E0848', 'E0860', 'E0861', 'E0862', 'E0864', 'E0866', 'E0868', 'E1833');

-- passo
create index concurrently eventos_com_problema_novo on eventos (tenant, desde desc)
  where due_at is null and estado in ('rejeitado', 'erro', 'erro_reprocessamento') and arquivado_em is null
    and not entre_partes;

-- passo
drop index concurrently if exists eventos_com_problema;

-- passo
alter index eventos_com_problema_novo rename to eventos_com_problema;

-- passo
create index concurrently eventos_entre_partes on eventos (tenant, codigo_retorno)
  where entre_partes and arquivado_em is null;

-- passo
-- Who made a move by hand, by their name on the machine; null where the service moved by itself.
alter table trilha_eventos add column quem text;
