-- When an operator has seen to a refused event: it is not shown among the problems any more, and is refused all the same.
-- The index of problems is made anew once, in 062.
alter table eventos add column arquivado_em timestamptz;
alter table eventos add constraint eventos_check check (arquivado_em is null or estado = 'rejeitado') not valid;

-- passo
alter table eventos validate constraint eventos_check;
