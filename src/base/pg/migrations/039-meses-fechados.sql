-- Months of issue of which the municipality's own addresses were told, with what was told: each once, for good.
create table meses_fechados (
  tenant text not null,
  -- 202611.
  mes integer not null,
  em timestamptz not null,
  resumo jsonb not null,
  primary key (tenant, mes)
);

-- Exports that somebody asked of the console for: a process that ends loses the file, and not the request.
create table exportacoes_do_console (
  tenant text not null,
  id text not null,
  -- A login.
  quem text not null,
  em timestamptz not null,
  formato text not null,
  -- The search, as it was written.
  busca jsonb not null,
  primary key (tenant, id)
);

alter table meses_fechados alter column tenant set statistics 0;
alter table exportacoes_do_console alter column tenant set statistics 0;
