-- The trace that a held note belongs to, as `fila.traceparent`. It goes on into the queue as the note is let go.
alter table retidas add column traceparent text;
-- passo
-- Those of the changes of a row, a line each; of one that is not traced it is empty, and null where none is.
alter table mudancas_novas add column traceparents text;
-- passo
-- That of the change that is told.
alter table entregas add column traceparent text;
