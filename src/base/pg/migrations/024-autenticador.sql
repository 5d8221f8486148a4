-- Of an entry, and of the end of a chain: which key, in eight octets, and HMAC-SHA-256 by it. Null: of a process that has none, or from before.
alter table auditoria add column autenticador bytea;
-- passo
alter table auditoria_ate add column autenticador bytea;
