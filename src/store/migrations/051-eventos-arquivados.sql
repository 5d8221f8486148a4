-- When an operator has seen to a refused event: it is not shown among the problems any more, and is refused all the same.
alter table eventos add column arquivado_em timestamptz check (arquivado_em is null or estado = 'rejeitado');

drop index eventos_com_problema;
create index eventos_com_problema on eventos (tenant, desde desc)
  where due_at is null and estado in ('rejeitado', 'erro', 'erro_reprocessamento') and arquivado_em is null;
