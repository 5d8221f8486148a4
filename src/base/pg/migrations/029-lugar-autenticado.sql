-- Of the place that an entry was given: which key, in eight octets, HMAC-SHA-256 by it, and what it stood on where that was no end of the
-- service's. Null: given by a process that has no key, or before this.
alter table auditoria add column autenticador_lugar bytea;
