-- What the console looks notes up by: the taker, the service, and the names of parties.

alter table notas add column servico text;

-- passo
create index concurrently notas_tomador on notas (tenant, tomador_cpf_cnpj, data_emissao) where tomador_cpf_cnpj is not null;

-- passo
-- Words of the names under which a CNPJ or CPF stands on notes, each once: a name leads to documents, and these to notes. Filled behind the
-- issuance, so that it costs no note anything.
create table nomes (
  tenant text not null,
  -- In capitals, without accents.
  palavra text collate "C" not null,
  documento text not null,
  primary key (tenant, palavra, documento)
);

-- Up to which note the names of a tenant were looked at, in a month.
create table nomes_lidos (
  tenant text not null,
  mes integer not null,
  ate bigint not null,
  primary key (tenant, mes)
);
