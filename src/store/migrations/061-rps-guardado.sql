-- What an RPS said that the NFS-e has no place for, so that its note gives it back; null of those that came before.
alter table lotes_rps add column guardado json;
