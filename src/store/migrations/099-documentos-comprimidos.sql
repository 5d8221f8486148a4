-- The documents of a note at its end, compressed together (pacote) with the dictionary of a number (dicionario), instead of whole; the
-- signer's certificate stands once for all notes, and beside them what a search looks for in the note (partes). A process of the version
-- before does not read this, so in a database that has one nothing is written so for a week (D-370).
alter table documentos add column pacote bytea, add column dicionario smallint, add column certificado bytea, add column partes text;
alter table documentos alter recebido drop not null, alter nfse drop not null, alter pacote set storage external;
alter table documentos add constraint documentos_inteiros
  check (num_nonnulls(recebido, nfse) = case when pacote is null then 2 else 0 end) not valid;
-- A row that was compressed leaves a page free, which is wanted again before a fifth of all rows are compressed.
alter table documentos set (autovacuum_vacuum_scale_factor = 0.01);

-- passo
alter table documentos validate constraint documentos_inteiros;

-- passo
-- Up to which note the documents of a tenant were looked at.
create table documentos_comprimidos (
  tenant text primary key references municipios,
  ate bigint not null
);
alter table documentos_comprimidos alter column tenant set statistics 0;
