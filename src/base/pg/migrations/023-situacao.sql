-- `cStat` of the NFS-e, so that a list tells it without opening the document. Null: from before it was kept.
alter table notas add column codigo_situacao_nfse integer;
