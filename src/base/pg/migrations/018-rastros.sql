-- The trace that something in the queue belongs to, as W3C Trace Context writes it; of the few that are sampled. It is gone with the row.
alter table fila add column traceparent text;
