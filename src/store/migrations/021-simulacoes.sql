-- What the local authority is asked to play with a note (D-60); null for nearly all, and always in production.
alter table notas add column simular text;
