-- What waits for the municipality itself, and when the national environment was last heard.

-- The last answer of the environment to the municipality, and the last question or test that got none, with its reason.
alter table circuitos add column respondeu_em timestamptz;
alter table circuitos add column falhou_em timestamptz;
alter table circuitos add column falha text;

-- Notes that were refused after they had been accepted here. An index by the state of a note would be written with each of its moves.
create table notas_recusadas (
  tenant text not null,
  nota bigint not null,
  mes integer not null,
  em timestamptz not null,
  primary key (tenant, nota)
);

create index notas_recusadas_em on notas_recusadas (tenant, em desc);

-- Who sees to what waits for the municipality, and what was put aside; a matter that nobody has touched has no row. The acts tell the rest.
create table pendencias (
  tenant text not null references municipios,
  tipo text not null,
  -- Of the note, the event or the thing that waits.
  chave text not null,
  nota bigint,
  mes integer,
  -- A login of the console; null: nobody.
  responsavel text,
  encerrada_em timestamptz,
  primary key (tenant, tipo, chave)
);

alter table notas_recusadas alter column tenant set statistics 0;
alter table pendencias alter column tenant set statistics 0;
-- passo
-- The types by which a municipality is asked, or answers: few among all events, and a type never changes.
create index concurrently eventos_do_municipio on eventos (tenant, codigo_tipo_evento, id)
  where codigo_tipo_evento in ('101103', '203206', '204207', '305102');
-- passo
-- lotes: notas mes id
insert into notas_recusadas (tenant, nota, mes, em) select n.tenant, n.id, n.mes, n.data_emissao from notas n
  where n.tenant = $1 and n.mes = $4 and n.id > $2 and n.id <= $3 and n.estado = 'recusada' on conflict (tenant, nota) do nothing
