-- What becomes of the ISSQN of a note (`classe-issqn.ts`), and the regime of its provider. Null: from before the sums of a month.
alter table notas add column classe_issqn text;
-- passo
alter table notas add column regime text;
-- passo
-- IBS and CBS that the note informs. Null: it informs none, it is held, or it is from before the sums of a month.
alter table notas add column valor_ibs numeric(17, 2);
-- passo
alter table notas add column valor_cbs numeric(17, 2);
-- passo
-- The block up to which the sums of the month were told of changes. A version from before them gives places without telling: they differ.
alter table mudancas_ate add column receita_bloco bigint;
-- passo
-- Sums of the notes of a month of issue and a month of competence, by one key (`por`, `chave`) and what becomes of the ISSQN.
create table receita_somas (
  tenant text not null,
  -- Where the notes were issued: here, or later at the national emitter.
  origem text not null,
  por text not null,
  mes integer not null,
  competencia integer not null,
  chave text not null,
  classe text not null,
  notas bigint not null,
  servicos numeric not null,
  base numeric not null,
  issqn numeric not null,
  ibs numeric not null,
  cbs numeric not null,
  primary key (tenant, por, mes, competencia, chave, classe, origem)
);

create index receita_competencia on receita_somas (tenant, por, competencia, mes);

-- Changes of notes that have their place and are not yet in the sums: a row for each turn of placing, a line for each note.
create table receita_novas (
  tenant text not null,
  bloco bigint not null,
  em timestamptz not null,
  notas text not null,
  primary key (tenant, bloco)
);

-- Months of notes. A count that was asked for (`pedida`) after the last one (`contada`) is made from the notes themselves, in the order of
-- their ids and in parts: `em_curso` is the one under way, and the sums have the notes up to `ate`.
create table receita_meses (
  tenant text not null,
  mes integer not null,
  pedida bigint not null,
  contada bigint,
  em_curso bigint,
  ate bigint,
  primary key (tenant, mes)
);

-- When a municipality was counted. The row is held by the process that counts.
create table receita_ate (
  tenant text not null primary key,
  em timestamptz
);

alter table receita_somas alter column tenant set statistics 0;
alter table receita_novas alter column tenant set statistics 0;
alter table receita_meses alter column tenant set statistics 0;
