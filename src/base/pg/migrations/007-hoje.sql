-- What the first page of the console shows of a day: how much was issued, what was refused, and whether the national environment answers.

-- Notes that were issued, by the five minutes in which they came. Written behind the answers, many notes at once.
create table emissoes (
  tenant text not null,
  inicio timestamptz not null,
  notas bigint not null,
  primary key (tenant, inicio)
);

-- Refused requests by the hour and each code that was answered; written in the same way.
create table recusas (
  tenant text not null,
  hora timestamptz not null,
  codigo text not null,
  quantas bigint not null,
  primary key (tenant, hora, codigo)
);

-- Whether the circuit to the national environment is open, as a process that transmits for the tenant saw it last. Written as it changes.
create table circuitos (
  tenant text primary key references municipios,
  -- Null: it is closed, and what is due is sent.
  aberto_em timestamptz,
  motivo text,
  visto_em timestamptz not null
);

alter table emissoes alter column tenant set statistics 0;
alter table recusas alter column tenant set statistics 0;
