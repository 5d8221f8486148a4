-- What the national environment was sent and has answered. The signature alone is kept, because the rest of the signed
-- document is the NFS-e as it was written; the certificates are few and stand apart.
alter table notas
  -- The highest reception number known when the note was first announced: a lost answer is looked for from there on.
  add column nsu_antes bigint,
  add column nsu_recepcao bigint,
  add column assinatura bytea,
  -- SHA-256 of the certificate that signed.
  add column certificado bytea;

create table certificados (
  tenant text not null references municipios,
  impressao bytea not null,
  der bytea not null,
  primary key (tenant, impressao)
);

-- The highest reception number that the national environment has answered to a municipality.
create table recepcoes_adn (
  tenant text primary key references municipios,
  nsu bigint not null
);
