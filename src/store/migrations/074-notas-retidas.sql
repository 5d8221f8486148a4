-- A note whose rates nobody has published yet is held: it waits for a newer table of rates than the one that judged it, and its
-- document is written anew with what was missing before it goes anywhere.
alter table notas drop constraint notas_estado_check;
alter table notas add constraint notas_estado_check
  check (estado in ('emitida', 'retida', 'transmitida', 'autorizada', 'recusada', 'cancelada')) not valid;

-- passo
alter table notas validate constraint notas_estado_check;

-- passo
-- Empty for every tenant nearly always: the worker looks here for what a newer table may let go.
create index concurrently notas_retidas on notas (tenant, tabela_aliquotas, id) where estado = 'retida';
